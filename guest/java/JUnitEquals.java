// SPDX-License-Identifier: MIT
// The assertions of JUnit 5 about equality, in all their overloads: each primitive type, its box, and both mixed. Jupiter's
// Assertions and JUnit 4's Assert extend this class.
package fumehood;

import java.lang.reflect.Array;
import java.util.Objects;
import java.util.function.Supplier;

public class JUnitEquals {
	/** A message is a text, or what gives one. */
	static AssertionError failure(Object message, String what) {
		Object text = message instanceof Supplier ? ((Supplier<?>) message).get() : message;
		return new AssertionError(text == null ? what : what.isEmpty() ? String.valueOf(text) : text + " ==> " + what);
	}

	static String show(Object o) {
		if (o == null || !o.getClass().isArray()) return "<" + o + ">";
		StringBuilder s = new StringBuilder("[");
		for (int i = 0, n = Array.getLength(o); i < n && s.length() < 300; i++) s.append(i > 0 ? ", " : "").append(Array.get(o, i));
		return s.append("]").toString();
	}

	static String different(Object expected, Object actual) {
		String e = show(expected), a = show(actual);
		boolean types = e.equals(a) && expected != null && actual != null;
		return "expected: " + (types ? expected.getClass().getName() : "") + e + " but was: " + (types ? actual.getClass().getName() : "") + a;
	}

	static void same(Object expected, Object actual, Object message) {
		if (!Objects.equals(expected, actual)) throw failure(message, different(expected, actual));
	}

	static void differ(Object unexpected, Object actual, Object message) {
		if (Objects.equals(unexpected, actual)) throw failure(message, "expected: not equal but was: " + show(actual));
	}

	static boolean isNear(double a, double b, double delta) {
		return Double.doubleToLongBits(a) == Double.doubleToLongBits(b) || Math.abs(a - b) <= delta;
	}

	static void near(double expected, double actual, double delta, boolean wanted, Object message) {
		if (!(delta >= 0)) throw failure(message, "positive delta expected but was: <" + delta + ">");
		if (isNear(expected, actual, delta) != wanted) throw failure(message, wanted ? different(expected, actual) : "expected: not equal but was: " + show(actual));
	}

	static void near(float expected, float actual, float delta, boolean wanted, Object message) {
		if (!(delta >= 0)) throw failure(message, "positive delta expected but was: <" + delta + ">");
		boolean is = Float.floatToIntBits(expected) == Float.floatToIntBits(actual) || Math.abs(expected - actual) <= delta;
		if (is != wanted) throw failure(message, wanted ? different(expected, actual) : "expected: not equal but was: " + show(actual));
	}

	static void sameArray(Object expected, Object actual, double delta, Object message) {
		String where = unlike(expected, actual, delta, "");
		if (where != null) throw failure(message, where);
	}

	private static String unlike(Object e, Object a, double delta, String at) {
		String where = at.isEmpty() ? "" : "at index " + at + ", ";
		if (e == a) return null;
		if (e == null || a == null || !e.getClass().isArray() || !a.getClass().isArray()) {
			boolean near = delta > 0 && e instanceof Number && a instanceof Number && isNear(((Number) e).doubleValue(), ((Number) a).doubleValue(), delta);
			return near || Objects.equals(e, a) ? null : "arrays differ " + where + different(e, a);
		}
		if (Array.getLength(e) != Array.getLength(a))
			return "array lengths differ " + where + "expected: <" + Array.getLength(e) + "> but was: <" + Array.getLength(a) + ">";
		for (int i = 0; i < Array.getLength(e); i++) {
			String found = unlike(Array.get(e, i), Array.get(a, i), delta, at + "[" + i + "]");
			if (found != null) return found;
		}
		return null;
	}

	public static void assertEquals(byte expected, byte actual) { same(expected, actual, null); }
	public static void assertEquals(byte expected, byte actual, String message) { same(expected, actual, message); }
	public static void assertEquals(byte expected, byte actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(byte expected, byte actual) { differ(expected, actual, null); }
	public static void assertNotEquals(byte expected, byte actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(byte expected, byte actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(byte expected, Byte actual) { same(expected, actual, null); }
	public static void assertEquals(byte expected, Byte actual, String message) { same(expected, actual, message); }
	public static void assertEquals(byte expected, Byte actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(byte expected, Byte actual) { differ(expected, actual, null); }
	public static void assertNotEquals(byte expected, Byte actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(byte expected, Byte actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Byte expected, byte actual) { same(expected, actual, null); }
	public static void assertEquals(Byte expected, byte actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Byte expected, byte actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Byte expected, byte actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Byte expected, byte actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Byte expected, byte actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Byte expected, Byte actual) { same(expected, actual, null); }
	public static void assertEquals(Byte expected, Byte actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Byte expected, Byte actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Byte expected, Byte actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Byte expected, Byte actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Byte expected, Byte actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(char expected, char actual) { same(expected, actual, null); }
	public static void assertEquals(char expected, char actual, String message) { same(expected, actual, message); }
	public static void assertEquals(char expected, char actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(char expected, char actual) { differ(expected, actual, null); }
	public static void assertNotEquals(char expected, char actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(char expected, char actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(char expected, Character actual) { same(expected, actual, null); }
	public static void assertEquals(char expected, Character actual, String message) { same(expected, actual, message); }
	public static void assertEquals(char expected, Character actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(char expected, Character actual) { differ(expected, actual, null); }
	public static void assertNotEquals(char expected, Character actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(char expected, Character actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Character expected, char actual) { same(expected, actual, null); }
	public static void assertEquals(Character expected, char actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Character expected, char actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Character expected, char actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Character expected, char actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Character expected, char actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Character expected, Character actual) { same(expected, actual, null); }
	public static void assertEquals(Character expected, Character actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Character expected, Character actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Character expected, Character actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Character expected, Character actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Character expected, Character actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(int expected, int actual) { same(expected, actual, null); }
	public static void assertEquals(int expected, int actual, String message) { same(expected, actual, message); }
	public static void assertEquals(int expected, int actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(int expected, int actual) { differ(expected, actual, null); }
	public static void assertNotEquals(int expected, int actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(int expected, int actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(int expected, Integer actual) { same(expected, actual, null); }
	public static void assertEquals(int expected, Integer actual, String message) { same(expected, actual, message); }
	public static void assertEquals(int expected, Integer actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(int expected, Integer actual) { differ(expected, actual, null); }
	public static void assertNotEquals(int expected, Integer actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(int expected, Integer actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Integer expected, int actual) { same(expected, actual, null); }
	public static void assertEquals(Integer expected, int actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Integer expected, int actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Integer expected, int actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Integer expected, int actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Integer expected, int actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Integer expected, Integer actual) { same(expected, actual, null); }
	public static void assertEquals(Integer expected, Integer actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Integer expected, Integer actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Integer expected, Integer actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Integer expected, Integer actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Integer expected, Integer actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(long expected, long actual) { same(expected, actual, null); }
	public static void assertEquals(long expected, long actual, String message) { same(expected, actual, message); }
	public static void assertEquals(long expected, long actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(long expected, long actual) { differ(expected, actual, null); }
	public static void assertNotEquals(long expected, long actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(long expected, long actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(long expected, Long actual) { same(expected, actual, null); }
	public static void assertEquals(long expected, Long actual, String message) { same(expected, actual, message); }
	public static void assertEquals(long expected, Long actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(long expected, Long actual) { differ(expected, actual, null); }
	public static void assertNotEquals(long expected, Long actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(long expected, Long actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Long expected, long actual) { same(expected, actual, null); }
	public static void assertEquals(Long expected, long actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Long expected, long actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Long expected, long actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Long expected, long actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Long expected, long actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Long expected, Long actual) { same(expected, actual, null); }
	public static void assertEquals(Long expected, Long actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Long expected, Long actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Long expected, Long actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Long expected, Long actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Long expected, Long actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(short expected, short actual) { same(expected, actual, null); }
	public static void assertEquals(short expected, short actual, String message) { same(expected, actual, message); }
	public static void assertEquals(short expected, short actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(short expected, short actual) { differ(expected, actual, null); }
	public static void assertNotEquals(short expected, short actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(short expected, short actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(short expected, Short actual) { same(expected, actual, null); }
	public static void assertEquals(short expected, Short actual, String message) { same(expected, actual, message); }
	public static void assertEquals(short expected, Short actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(short expected, Short actual) { differ(expected, actual, null); }
	public static void assertNotEquals(short expected, Short actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(short expected, Short actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Short expected, short actual) { same(expected, actual, null); }
	public static void assertEquals(Short expected, short actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Short expected, short actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Short expected, short actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Short expected, short actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Short expected, short actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Short expected, Short actual) { same(expected, actual, null); }
	public static void assertEquals(Short expected, Short actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Short expected, Short actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Short expected, Short actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Short expected, Short actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Short expected, Short actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(float expected, float actual) { same(expected, actual, null); }
	public static void assertEquals(float expected, float actual, String message) { same(expected, actual, message); }
	public static void assertEquals(float expected, float actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(float expected, float actual) { differ(expected, actual, null); }
	public static void assertNotEquals(float expected, float actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(float expected, float actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(float expected, Float actual) { same(expected, actual, null); }
	public static void assertEquals(float expected, Float actual, String message) { same(expected, actual, message); }
	public static void assertEquals(float expected, Float actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(float expected, Float actual) { differ(expected, actual, null); }
	public static void assertNotEquals(float expected, Float actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(float expected, Float actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Float expected, float actual) { same(expected, actual, null); }
	public static void assertEquals(Float expected, float actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Float expected, float actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Float expected, float actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Float expected, float actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Float expected, float actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Float expected, Float actual) { same(expected, actual, null); }
	public static void assertEquals(Float expected, Float actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Float expected, Float actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Float expected, Float actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Float expected, Float actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Float expected, Float actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(double expected, double actual) { same(expected, actual, null); }
	public static void assertEquals(double expected, double actual, String message) { same(expected, actual, message); }
	public static void assertEquals(double expected, double actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(double expected, double actual) { differ(expected, actual, null); }
	public static void assertNotEquals(double expected, double actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(double expected, double actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(double expected, Double actual) { same(expected, actual, null); }
	public static void assertEquals(double expected, Double actual, String message) { same(expected, actual, message); }
	public static void assertEquals(double expected, Double actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(double expected, Double actual) { differ(expected, actual, null); }
	public static void assertNotEquals(double expected, Double actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(double expected, Double actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Double expected, double actual) { same(expected, actual, null); }
	public static void assertEquals(Double expected, double actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Double expected, double actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Double expected, double actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Double expected, double actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Double expected, double actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(Double expected, Double actual) { same(expected, actual, null); }
	public static void assertEquals(Double expected, Double actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Double expected, Double actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Double expected, Double actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Double expected, Double actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Double expected, Double actual, Supplier<String> message) { differ(expected, actual, message); }
	public static void assertEquals(float expected, float actual, float delta) { near(expected, actual, delta, true, null); }
	public static void assertEquals(float expected, float actual, float delta, String message) { near(expected, actual, delta, true, message); }
	public static void assertEquals(float expected, float actual, float delta, Supplier<String> message) { near(expected, actual, delta, true, message); }
	public static void assertNotEquals(float expected, float actual, float delta) { near(expected, actual, delta, false, null); }
	public static void assertNotEquals(float expected, float actual, float delta, String message) { near(expected, actual, delta, false, message); }
	public static void assertNotEquals(float expected, float actual, float delta, Supplier<String> message) { near(expected, actual, delta, false, message); }
	public static void assertEquals(double expected, double actual, double delta) { near(expected, actual, delta, true, null); }
	public static void assertEquals(double expected, double actual, double delta, String message) { near(expected, actual, delta, true, message); }
	public static void assertEquals(double expected, double actual, double delta, Supplier<String> message) { near(expected, actual, delta, true, message); }
	public static void assertNotEquals(double expected, double actual, double delta) { near(expected, actual, delta, false, null); }
	public static void assertNotEquals(double expected, double actual, double delta, String message) { near(expected, actual, delta, false, message); }
	public static void assertNotEquals(double expected, double actual, double delta, Supplier<String> message) { near(expected, actual, delta, false, message); }
	public static void assertEquals(Object expected, Object actual) { same(expected, actual, null); }
	public static void assertEquals(Object expected, Object actual, String message) { same(expected, actual, message); }
	public static void assertEquals(Object expected, Object actual, Supplier<String> message) { same(expected, actual, message); }
	public static void assertNotEquals(Object expected, Object actual) { differ(expected, actual, null); }
	public static void assertNotEquals(Object expected, Object actual, String message) { differ(expected, actual, message); }
	public static void assertNotEquals(Object expected, Object actual, Supplier<String> message) { differ(expected, actual, message); }

	public static void assertArrayEquals(byte[] expected, byte[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(byte[] expected, byte[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(byte[] expected, byte[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(char[] expected, char[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(char[] expected, char[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(char[] expected, char[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(int[] expected, int[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(int[] expected, int[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(int[] expected, int[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(long[] expected, long[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(long[] expected, long[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(long[] expected, long[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(short[] expected, short[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(short[] expected, short[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(short[] expected, short[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(float[] expected, float[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(float[] expected, float[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(float[] expected, float[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(double[] expected, double[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(double[] expected, double[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(double[] expected, double[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(boolean[] expected, boolean[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(boolean[] expected, boolean[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(boolean[] expected, boolean[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(Object[] expected, Object[] actual) { sameArray(expected, actual, 0, null); }
	public static void assertArrayEquals(Object[] expected, Object[] actual, String message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(Object[] expected, Object[] actual, Supplier<String> message) { sameArray(expected, actual, 0, message); }
	public static void assertArrayEquals(float[] expected, float[] actual, float delta) { sameArray(expected, actual, delta, null); }
	public static void assertArrayEquals(float[] expected, float[] actual, float delta, String message) { sameArray(expected, actual, delta, message); }
	public static void assertArrayEquals(float[] expected, float[] actual, float delta, Supplier<String> message) { sameArray(expected, actual, delta, message); }
	public static void assertArrayEquals(double[] expected, double[] actual, double delta) { sameArray(expected, actual, delta, null); }
	public static void assertArrayEquals(double[] expected, double[] actual, double delta, String message) { sameArray(expected, actual, delta, message); }
	public static void assertArrayEquals(double[] expected, double[] actual, double delta, Supplier<String> message) { sameArray(expected, actual, delta, message); }
}
