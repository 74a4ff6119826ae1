# SPDX-License-Identifier: MIT
# prepare TOOL: a class that compiles and archives in one virtual machine, and a class data sharing archive: what that
# machine has loaded and checked while it compiled Sample.java, which uses what programs of exercises use. A later machine
# maps it. It takes the archive only where .compile.jar has the same path and time as here.
set -e
bin=$(dirname "$(readlink -f "$1")")
cat >Compile.java <<'END'
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.spi.ToolProvider;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

class Compile {
	static final File before = new File(".fhsplit.jar"), unpacked = new File(".fhsplit"), classes = new File(".classes");

	static void unpack() throws IOException {
		unpacked.mkdir();
		try (ZipInputStream in = new ZipInputStream(new FileInputStream(before))) {
			for (ZipEntry e; (e = in.getNextEntry()) != null;) {
				if (!e.getName().endsWith(".class"))
					continue;
				File to = new File(unpacked, e.getName());
				to.getParentFile().mkdirs();
				try (FileOutputStream out = new FileOutputStream(to)) {
					in.transferTo(out);
				}
			}
		}
	}

	static void join(File from, File into) {
		for (String name : from.list()) {
			File file = new File(from, name), to = new File(into, name);
			if (file.isDirectory() && to.isDirectory())
				join(file, to);
			else if (to.exists() || !file.renameTo(to)) {
				System.err.println("error: duplicate class: " + name);
				System.exit(1);
			}
		}
	}

	static void call(String tool, String... arguments) {
		int status = ToolProvider.findFirst(tool).orElseThrow().run(System.out, System.err, arguments);
		if (status != 0)
			System.exit(status);
	}

	public static void main(String[] arguments) throws IOException {
		boolean more = before.exists();
		if (more)
			unpack();
		call("javac", "-cp", more ? ".:.fhsplit" : ".", "-d", ".classes", arguments[0]);
		if (more)
			join(unpacked, classes);
		call("jar", "-cf0", arguments[1], "-C", ".classes", ".");
	}
}
END
cat >Sample.java <<'END'
import java.util.*;
import java.util.function.*;
import java.util.stream.*;

public class Sample<T extends Comparable<T>> {
	interface Shape {
		default double area() {
			return 0;
		}
	}

	enum Kind { ONE, TWO }

	static class Square implements Shape {
		private final double side;

		Square(double side) {
			this.side = side;
		}

		@Override
		public double area() {
			return side * side;
		}
	}

	private final List<T> all = new ArrayList<>();

	@SafeVarargs
	final T most(T... values) {
		for (T v : values)
			all.add(v);
		return Collections.max(all);
	}

	static long count(String text) throws IllegalArgumentException {
		Map<Character, Integer> seen = new HashMap<>();
		for (char c : text.toCharArray())
			seen.merge(c, 1, Integer::sum);
		StringBuilder out = new StringBuilder();
		for (Map.Entry<Character, Integer> e : seen.entrySet())
			out.append(e.getKey()).append(e.getValue() > 1 ? "+" : "").append('\n');
		if (out.length() == 0)
			throw new IllegalArgumentException("no text: " + text.length());
		return out.chars().filter(c -> c != '\n').count();
	}

	public static void main(String[] args) {
		int[][] grid = new int[3][];
		Supplier<Shape> make = () -> new Square(2);
		Comparator<String> order = new Comparator<>() {
			public int compare(String a, String b) {
				return Integer.compare(a.length(), b.length());
			}
		};
		List<String> words = Arrays.asList("a", "bc", "def").stream().sorted(order.reversed()).map(String::toUpperCase)
			.collect(Collectors.toList());
		Kind kind = words.size() > 2 ? Kind.ONE : Kind.TWO;
		switch (kind) {
		case ONE:
			grid[0] = IntStream.rangeClosed(1, 5).map(i -> i % 2 == 0 ? i << 1 : i ^ 3).toArray();
			break;
		default:
			assert grid != null : "a grid";
		}
		Object o = make.get();
		int i = 0;
		do {
			try (Scanner in = new Scanner("1 2 3")) {
				i += in.nextInt();
				if (o instanceof Square && ((Square) o).area() > 1.5)
					continue;
			} catch (NoSuchElementException | IllegalStateException e) {
				System.err.println(e.getMessage());
			} finally {
				i++;
			}
		} while (i < 4);
		System.out.printf("%s %d%n", new Sample<String>().most("x", "y"), count(String.join(",", words)));
	}
}
END
"$1" -d .tool Compile.java
"$bin/jar" -cf0 .compile.jar -C .tool .
touch -d @0 .compile.jar
cp .compile.jar compile.jar
cp .compile.jar .fhsplit.jar
exec "$bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ArchiveClassesAtExit=compile.jsa -cp .compile.jar Compile Sample.java sample.jar
