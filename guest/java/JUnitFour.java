// SPDX-License-Identifier: MIT
// The names of JUnit 4 that tests use, as members of one class (Jupiter.java has those of JUnit 5).
package fumehood;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Objects;

public final class JUnitFour {
	@Retention(RetentionPolicy.RUNTIME) public @interface Test {
		Class<? extends Throwable> expected() default None.class;
		long timeout() default 0;
	}
	/** Stands for no exception; nobody makes one. */
	@SuppressWarnings("serial") public static final class None extends Throwable {
		private None() {}
	}
	@Retention(RetentionPolicy.RUNTIME) public @interface Before {}
	@Retention(RetentionPolicy.RUNTIME) public @interface After {}
	@Retention(RetentionPolicy.RUNTIME) public @interface BeforeClass {}
	@Retention(RetentionPolicy.RUNTIME) public @interface AfterClass {}
	@Retention(RetentionPolicy.RUNTIME) public @interface Ignore { String value() default ""; }
	@Retention(RetentionPolicy.RUNTIME) public @interface FixMethodOrder { MethodSorters value() default MethodSorters.DEFAULT; }
	@Retention(RetentionPolicy.RUNTIME) public @interface RunWith { Class<?> value(); }
	public enum MethodSorters { NAME_ASCENDING, JVM, DEFAULT }
	/** The runners that run a class's own tests. */
	public static final class BlockJUnit4ClassRunner {}
	public static final class JUnit4 {}

	public interface ThrowingRunnable { void run() throws Throwable; }

	public static class Assert {
		protected Assert() {}

		public static void assertTrue(boolean b) { check(null, b, ""); }
		public static void assertTrue(String message, boolean b) { check(message, b, ""); }
		public static void assertFalse(boolean b) { check(null, !b, ""); }
		public static void assertFalse(String message, boolean b) { check(message, !b, ""); }
		public static void assertNull(Object o) { assertNull(null, o); }
		public static void assertNull(String message, Object o) { if (o != null) throw JUnitEquals.failure(message, "expected null, but was:" + JUnitEquals.show(o)); }
		public static void assertNotNull(Object o) { check(null, o != null, ""); }
		public static void assertNotNull(String message, Object o) { check(message, o != null, ""); }
		public static void assertSame(Object e, Object a) { assertSame(null, e, a); }
		public static void assertSame(String message, Object e, Object a) { if (e != a) throw JUnitEquals.failure(message, "not the same: " + JUnitEquals.different(e, a)); }
		public static void assertNotSame(Object e, Object a) { check(null, e != a, "expected not same"); }
		public static void assertNotSame(String message, Object e, Object a) { check(message, e != a, "expected not same"); }
		public static void fail() { fail(null); }
		public static void fail(String message) { throw JUnitEquals.failure(message, ""); }

		public static void assertEquals(Object e, Object a) { JUnitEquals.same(e, a, null); }
		public static void assertEquals(String message, Object e, Object a) { JUnitEquals.same(e, a, message); }
		public static void assertEquals(long e, long a) { JUnitEquals.same(e, a, null); }
		public static void assertEquals(String message, long e, long a) { JUnitEquals.same(e, a, message); }
		public static void assertEquals(double e, double a, double delta) { assertEquals(null, e, a, delta); }
		public static void assertEquals(String message, double e, double a, double delta) { check(message, JUnitEquals.isNear(e, a, delta), JUnitEquals.different(e, a)); }
		public static void assertEquals(float e, float a, float delta) { assertEquals(null, e, a, delta); }
		public static void assertEquals(String message, float e, float a, float delta) { check(message, Float.compare(e, a) == 0 || Math.abs(e - a) <= delta, JUnitEquals.different(e, a)); }
		/** As in JUnit 4, which wants a delta. */
		public static void assertEquals(double e, double a) { fail("use assertEquals(expected, actual, delta) to compare floating-point numbers"); }
		public static void assertNotEquals(Object e, Object a) { check(null, !Objects.equals(e, a), "values should be different"); }
		public static void assertNotEquals(String message, Object e, Object a) { check(message, !Objects.equals(e, a), "values should be different"); }
		public static void assertNotEquals(long e, long a) { check(null, e != a, "values should be different"); }
		public static void assertNotEquals(String message, long e, long a) { check(message, e != a, "values should be different"); }
		public static void assertNotEquals(double e, double a, double delta) { check(null, !JUnitEquals.isNear(e, a, delta), "values should be different"); }
		public static void assertNotEquals(String message, double e, double a, double delta) { check(message, !JUnitEquals.isNear(e, a, delta), "values should be different"); }

		public static void assertArrayEquals(Object[] e, Object[] a) { arrays(null, e, a, 0); }
		public static void assertArrayEquals(String message, Object[] e, Object[] a) { arrays(message, e, a, 0); }
		public static void assertArrayEquals(boolean[] e, boolean[] a) { arrays(null, e, a, 0); }
		public static void assertArrayEquals(String message, boolean[] e, boolean[] a) { arrays(message, e, a, 0); }
		public static void assertArrayEquals(byte[] e, byte[] a) { arrays(null, e, a, 0); }
		public static void assertArrayEquals(String message, byte[] e, byte[] a) { arrays(message, e, a, 0); }
		public static void assertArrayEquals(char[] e, char[] a) { arrays(null, e, a, 0); }
		public static void assertArrayEquals(String message, char[] e, char[] a) { arrays(message, e, a, 0); }
		public static void assertArrayEquals(short[] e, short[] a) { arrays(null, e, a, 0); }
		public static void assertArrayEquals(String message, short[] e, short[] a) { arrays(message, e, a, 0); }
		public static void assertArrayEquals(int[] e, int[] a) { arrays(null, e, a, 0); }
		public static void assertArrayEquals(String message, int[] e, int[] a) { arrays(message, e, a, 0); }
		public static void assertArrayEquals(long[] e, long[] a) { arrays(null, e, a, 0); }
		public static void assertArrayEquals(String message, long[] e, long[] a) { arrays(message, e, a, 0); }
		public static void assertArrayEquals(double[] e, double[] a, double delta) { arrays(null, e, a, delta); }
		public static void assertArrayEquals(String message, double[] e, double[] a, double delta) { arrays(message, e, a, delta); }
		public static void assertArrayEquals(float[] e, float[] a, float delta) { arrays(null, e, a, delta); }
		public static void assertArrayEquals(String message, float[] e, float[] a, float delta) { arrays(message, e, a, delta); }

		public static <T extends Throwable> T assertThrows(Class<T> type, ThrowingRunnable r) { return Jupiter.Assertions.assertThrows(type, r::run); }
		public static <T extends Throwable> T assertThrows(String message, Class<T> type, ThrowingRunnable r) { return Jupiter.Assertions.assertThrows(type, r::run, message); }

		private static void check(String message, boolean holds, String what) { if (!holds) throw JUnitEquals.failure(message, what); }
		private static void arrays(String message, Object e, Object a, double delta) { JUnitEquals.sameArray(e, a, delta, message); }
	}
}
