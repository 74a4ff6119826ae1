// SPDX-License-Identifier: MIT
// Runs the test (class Main) against a stand-in for a class of the program's; the program is never sent here. fd 3: replies; fd 4: calls;
// fd 5: the verdict, as split_judge.js describes it.
//
// stdin: the seed, sixteen hexadecimal digits, and what becomes of arguments: 0 they are copies, 1 changed ones are sent back, a to c:
// no program is asked, they are emptied, and the result is an empty value, another one, or an argument.
//
// Calls:    word (C: call, c: call with changes, E: end), id (16), the instance's number, the class's and the method's name (<init>: a constructor),
//           its arguments as an array. Number 0: none.
// Replies:  id (16), word, and for R the result (and with changes the arguments); for T the names of an exception's class and
//           its superclasses, and its message; for X a class and message of a throwable that is no Exception; for L the
//           reason why the result cannot cross; U: no such method; E: the answer to E.
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.*;
import java.util.concurrent.atomic.AtomicLong;

final class SplitJudge {
	private static SplitCodec codec;
	private static int calls;
	private static boolean changes;
	private static int spoiler; // a to c, or less
	private static final SecureRandom random = new SecureRandom();

	public static void main(String[] arguments) throws Exception {
		codec = new SplitCodec(3, 4);
		beginChance(new String(System.in.readNBytes(16), StandardCharsets.US_ASCII));
		spoiler = System.in.read();
		changes = spoiler == '1';
		try {
			Main.main(new String[0]);
		} catch (Throwable t) {
			say("failed", describe(t));
		}
		if (calls == 0) say("broken", "the test called nothing");
		byte[] reply = exchange('E', null, null);
		if (reply.length != 17 || reply[16] != 'E') say("tampered", "a reply to no call");
		say("passed", SplitCodec.notFinite ? "not finite" : "");
	}

	private static Random chance;

	/** Seeds generators without a seed of their own with numbers that only this process has. */
	private static void beginChance(String seed) {
		chance = new Random(Long.parseUnsignedLong(seed, 16));
		Math.random();
		Collections.shuffle(new ArrayList<>(List.of(1, 2)));
		try {
			((Random) held(Class.forName("java.lang.Math$RandomNumberGeneratorHolder"), "randomNumberGenerator")).setSeed(chance.nextLong());
			((Random) held(Collections.class, "r")).setSeed(chance.nextLong());
			((AtomicLong) held(Random.class, "seedUniquifier")).set(chance.nextLong());
		} catch (ReflectiveOperationException e) {
			// A JDK with other fields: the generators keep their random seeds, and the run cannot be reproduced.
		}
	}

	private static Object held(Class<?> holder, String name) throws ReflectiveOperationException {
		Field field = holder.getDeclaredField(name);
		field.setAccessible(true);
		return field.get(null);
	}

	/** Replaces `new Random()` in the test's text. */
	static Random random() {
		return new Random(chance.nextLong());
	}

	/** The same with a seed. A seed that is the time, which the candidate can read too, is replaced. */
	static Random random(long seed) {
		long millis = System.currentTimeMillis();
		long[][] clocks = { { millis / 1000, 1 }, { millis, 1000 }, { millis * 1000, 1_000_000 }, { System.nanoTime(), 1_000_000_000 } };
		for (long[] now : clocks)
			if (Math.abs(seed - now[0]) <= now[1]) return random();
		return new Random(seed);
	}

	private static String describe(Throwable t) {
		StringBuilder s = new StringBuilder(String.valueOf(t));
		for (StackTraceElement at : t.getStackTrace())
			if (at.getClassName().startsWith("Main")) return s.append(" [line ").append(at.getLineNumber()).append(" of the test]").toString();
		return s.toString();
	}

	/** Does not return, so that the test cannot catch anything. */
	static void say(String word, String reason) {
		byte[] text = (reason.length() > 600 ? reason.substring(0, 600) : reason).getBytes(StandardCharsets.UTF_8);
		byte[] head = (word + " " + calls + " " + text.length + "\n").getBytes(StandardCharsets.US_ASCII);
		byte[] message = Arrays.copyOf(head, head.length + text.length);
		System.arraycopy(text, 0, message, head.length, text.length);
		try {
			System.out.flush();
			new FileOutputStream(SplitCodec.descriptor(5)).write(message);
		} catch (IOException | ReflectiveOperationException e) {
			Runtime.getRuntime().halt(3);
		}
		Runtime.getRuntime().halt(word.equals("passed") ? 0 : 1);
	}

	private static byte[] exchange(char word, String name, Object[] values) {
		byte[] id = new byte[16];
		random.nextBytes(id);
		try {
			SplitCodec.Writer call = new SplitCodec.Writer(false);
			call.word(word);
			call.raw(id);
			if (name != null) {
				call.text(name);
				call.put(values);
			}
			codec.send(call.done());
		} catch (SplitCodec.Refused e) {
			say("unfit", "an argument cannot cross: " + e.getMessage());
		} catch (IOException e) {
			say("gone", "the program ended before it was called");
		}
		byte[] reply = null;
		try {
			reply = codec.receive();
		} catch (SplitCodec.Refused e) {
			say("tampered", "a reply that no program gives: " + e.getMessage());
		} catch (IOException e) {
			say("gone", "the program ended and gave no answer");
		}
		if (reply == null) say("gone", "the program ended and gave no answer");
		if (reply.length < 17 || !Arrays.equals(reply, 0, 16, id, 0, 16)) say("tampered", "a reply to no call");
		return reply;
	}

	@SuppressWarnings("unchecked")
	private static void empty(Object o) {
		if (o != null && o.getClass().isArray()) {
			int n = Array.getLength(o);
			System.arraycopy(Array.newInstance(o.getClass().getComponentType(), n), 0, o, 0, n);
		}
		try {
			if (o instanceof Map) ((Map<?, ?>) o).clear();
			if (o instanceof Collection) ((Collection<?>) o).clear();
		} catch (UnsupportedOperationException e) {
			List<Object> list = o instanceof List ? (List<Object>) o : new ArrayList<>();
			try {
				if (!list.isEmpty()) Collections.fill(list, list.get(0));
			} catch (UnsupportedOperationException fixed) {
				// a program cannot change it either
			}
		}
	}

	/** An empty value of the type, or one that is not. */
	private static Object valueOf(Class<?> type, boolean some) {
		Object[] all = { 0, 0L, 0.0, 0f, (short) 0, (byte) 0, '\0', false, "" }, others = { 1, 1L, 1.0, 1f, (short) 1, (byte) 1, '1', true, "1" };
		Object primitive = type == void.class ? null : Array.get(Array.newInstance(type, 1), 0);
		Class<?> wanted = primitive == null ? type : primitive.getClass();
		for (int i = 0; i < all.length; i++)
			if (wanted == all[i].getClass()) return some ? others[i] : all[i];
		if (type.isArray()) return Array.newInstance(type.getComponentType(), some ? 1 : 0);
		for (Object made : new Object[] { new ArrayList<>(), new LinkedList<>(), new HashSet<>(), new HashMap<>(), new TreeMap<>() }) {
			if (!type.isInstance(made) || type == Object.class) continue;
			if (some && made instanceof Map) ((Map<?, ?>) made).put(null, null);
			if (some && made instanceof Collection) ((Collection<?>) made).add(null);
			return made;
		}
		return null;
	}

	/** What a program gives that solves nothing and empties what it gets. */
	private static Object spoil(String[] names, Object[] values) {
		Class<?> type = Object.class;
		try {
			for (java.lang.reflect.Method m : Class.forName(names[0]).getDeclaredMethods())
				if (m.getName().equals(names[1]) && m.getParameterCount() == values.length) type = m.getReturnType();
		} catch (ClassNotFoundException e) {
			throw new IllegalStateException(e);
		}
		for (Object value : values) empty(value);
		calls++;
		for (Object value : values)
			if (spoiler == 'c' && value != null && (type.isInstance(value) || value.getClass() == valueOf(type, false).getClass())) return value;
		return valueOf(type, spoiler == 'b');
	}

	private static int instances;

	/** The number of a new instance of the stand-in. */
	static synchronized int instance() {
		return ++instances;
	}

	/** The body of a method of the stand-in. `name`: of class and method. */
	static synchronized Object call(int instance, String name, Object... values) {
		if (spoiler >= 'a') return spoil(name.split(" "), values);
		byte[] reply = exchange(changes ? 'c' : 'C', instance + " " + name, values);
		SplitCodec.Reader in = new SplitCodec.Reader(reply, 17);
		Object result = null;
		Exception raised = null;
		try {
			if (reply[16] == 'R') {
				result = in.get();
				if (changes) takeBack(values, (Object[]) in.get());
			} else if (reply[16] == 'T' || reply[16] == 'X') {
				String type = in.text();
				String message = (String) in.get();
				if (reply[16] == 'X') say("failed", message == null ? type : type + ": " + message);
				raised = exception(type, message);
			} else if (reply[16] == 'L') {
				say("failed", "what the program returned cannot cross: " + in.text());
			} else if (reply[16] == 'U') {
				say("failed", "the program does not define " + in.text());
			} else {
				say("tampered", "a reply of no known kind");
			}
			if (!in.isAtEnd()) say("tampered", "a reply that no program gives: it is too long");
		} catch (SplitCodec.Refused | RuntimeException e) {
			say("tampered", "a reply that no program gives: " + e.getMessage());
		} catch (Error e) { // a set that contains itself, arrays that fill the memory: never the test's to catch
			say("tampered", "a reply that no program gives: " + e);
		}
		calls++;
		if (raised != null) throw SplitJudge.<RuntimeException>asIs(raised);
		return result;
	}

	/** The result is not of the declared class, with which the test might not even compile. */
	static void wrongType() {
		say("failed", "the program's result is not of the declared type");
	}

	/** A program may return another primitive type than the declared one if most tests would accept it: a narrower one or,
	 *  for int and long, a wider one with a whole number. */
	static Object number(Object v, Class<?> declared) {
		Object n = v instanceof Character ? (Object) (int) (Character) v : v;
		if (!(n instanceof Number)) return v;
		boolean whole = n instanceof Byte || n instanceof Short || n instanceof Integer;
		boolean real = n instanceof Float || n instanceof Double;
		Number number = (Number) n;
		if (declared == double.class && (whole || n instanceof Long || n instanceof Float)) return number.doubleValue();
		if (declared == float.class && (whole || n instanceof Long)) return number.floatValue();
		if (declared == long.class && (whole || real && number.doubleValue() == number.longValue())) return number.longValue();
		if (declared == int.class && (whole || (real || n instanceof Long) && number.doubleValue() == number.intValue())) return number.intValue();
		return v;
	}

	/** Makes an exception of the first known type in `types`, which begin with its own class. */
	private static Exception exception(String types, String message) {
		String[] names = types.split(" ");
		for (String name : names) {
			Exception known = known(name, message);
			if (known != null) return known;
		}
		return new RuntimeException(message == null ? names[0] : names[0] + ": " + message);
	}

	/** A checked exception, past the compiler. */
	@SuppressWarnings("unchecked") private static <E extends Exception> E asIs(Exception e) throws E { throw (E) e; }

	private static Exception known(String type, String message) {
		switch (type) {
		case "java.lang.Exception": return new Exception(message);
		case "java.lang.InterruptedException": return new InterruptedException(message);
		case "java.lang.CloneNotSupportedException": return new CloneNotSupportedException(message);
		case "java.lang.ClassNotFoundException": return new ClassNotFoundException(message);
		case "java.io.IOException": return new IOException(message);
		case "java.io.FileNotFoundException": return new java.io.FileNotFoundException(message);
		case "java.util.concurrent.TimeoutException": return new java.util.concurrent.TimeoutException(message);
		case "java.lang.RuntimeException": return new RuntimeException(message);
		case "java.lang.IllegalArgumentException": return new IllegalArgumentException(message);
		case "java.lang.NumberFormatException": return new NumberFormatException(message);
		case "java.lang.IllegalStateException": return new IllegalStateException(message);
		case "java.lang.ArithmeticException": return new ArithmeticException(message);
		case "java.lang.NullPointerException": return new NullPointerException(message);
		case "java.lang.ClassCastException": return new ClassCastException(message);
		case "java.lang.UnsupportedOperationException": return new UnsupportedOperationException(message);
		case "java.lang.NegativeArraySizeException": return new NegativeArraySizeException(message);
		case "java.lang.IndexOutOfBoundsException": return new IndexOutOfBoundsException(message);
		case "java.lang.ArrayIndexOutOfBoundsException": return new ArrayIndexOutOfBoundsException(message);
		case "java.lang.StringIndexOutOfBoundsException": return new StringIndexOutOfBoundsException(message);
		case "java.util.NoSuchElementException": return new NoSuchElementException(message);
		case "java.util.InputMismatchException": return new InputMismatchException(message);
		case "java.util.ConcurrentModificationException": return new ConcurrentModificationException(message);
		case "java.util.EmptyStackException": return new EmptyStackException();
		default: return null;
		}
	}

	@SuppressWarnings("unchecked")
	private static void takeBack(Object[] mine, Object[] theirs) {
		if (theirs.length != mine.length) throw new IllegalArgumentException("another number of arguments");
		for (int i = 0; i < mine.length; i++) {
			Object to = mine[i], from = theirs[i];
			if (to == null || from == null) continue;
			if (to.getClass().isArray()) {
				if (Array.getLength(to) != Array.getLength(from)) throw new IllegalArgumentException("an array of another length");
				System.arraycopy(from, 0, to, 0, Array.getLength(to));
			} else if (to instanceof Map && !to.equals(from)) {
				((Map<Object, Object>) to).clear();
				((Map<Object, Object>) to).putAll((Map<Object, Object>) from);
			} else if (to instanceof List && !to.equals(from) && ((List<?>) to).size() == ((List<?>) from).size()) {
				for (int k = 0; k < ((List<?>) to).size(); k++) ((List<Object>) to).set(k, ((List<Object>) from).get(k));
			} else if (to instanceof Collection && !to.equals(from)) {
				((Collection<Object>) to).clear();
				((Collection<Object>) to).addAll((Collection<Object>) from);
			}
		}
	}
}
