# SPDX-License-Identifier: MIT
# What a fork may have broken: files, children, pipes, randomness, time.
use strict;
use warnings;
die "time $^T" if abs(time - $^T) > 20;
open(my $file, '<', $INC{'strict.pm'}) or die "open: $!";
die "file" unless <$file> =~ /strict/;
pipe(my $in, my $out) or die "pipe: $!";
my $child = fork;
die "fork: $!" unless defined $child;
if ($child == 0) {
	syswrite $out, $$ . " " . getppid;
	exit 7;
}
waitpid $child, 0;
die "wait $?" unless $? == 7 << 8;
sysread $in, my $said, 100;
die "pid $said $child $$" unless $said eq "$child $$";
my $x = rand;
die "rand" if $x == rand;
print "ok\n";
