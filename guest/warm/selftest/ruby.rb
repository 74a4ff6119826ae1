# SPDX-License-Identifier: MIT
# What a fork may have broken: threads, timers, files, children, randomness.
raise "file" unless File.open($0) { |f| f.fileno > 2 }
raise "pid" unless $$ == Process.pid && Process.pid == Process.getpgid(0)
raise "thread" unless Thread.new { sleep 0.001; 5 }.value == 5
queue = Queue.new
other = Thread.new { queue.pop }
spin = Thread.new { 20_000.times { |i| i + 1 } }
queue << 3
raise "queue" unless other.value == 3 && spin.join
reader, writer = IO.pipe
child = fork do
  writer.write("#{Process.ppid} #{rand}")
  exit!(7)
end
writer.close
raise "wait" unless Process.wait2(child)[1].exitstatus == 7
said = reader.read.split
raise "child #{said}" unless said[0].to_i == $$ && said[1] != rand.to_s
GC.start
puts "ok"
