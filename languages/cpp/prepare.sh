# SPDX-License-Identifier: MIT
# prepare TOOL: precompiles bits/stdc++.h, where the tool is g++: other compilers read no such file of it. g++ takes from the
# folder what suits its options: -O2 is how programs are compiled, -O0 how those are that fumehood judge splits.
"$1" --version | grep -q 'Free Software Foundation' || exit 0
# A unit that includes it a second time looks for the header itself beside it.
h=bits/stdc++.h.gch
mkdir -p $h && echo '#include <bits/stdc++.h>' >all.h || exit
"$1" -O2 -x c++-header all.h -o $h/O2 || exit
echo '#include_next <bits/stdc++.h>' >bits/stdc++.h || exit
"$1" -O0 -x c++-header all.h -o $h/O0 || rm -f $h/O0
