// SPDX-License-Identifier: MIT
// The names of JUnit 5 that tests use, as members of one class: src/judge/languages/java_test_file.c puts them in the place of
// org.junit.jupiter's. JUnit.java runs the tests. Assumptions are not among them: a program in the test's process could throw
// what they throw.
package fumehood;

import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

public final class Jupiter {
	@Retention(RetentionPolicy.RUNTIME) public @interface Test {}
	@Retention(RetentionPolicy.RUNTIME) public @interface BeforeEach {}
	@Retention(RetentionPolicy.RUNTIME) public @interface AfterEach {}
	@Retention(RetentionPolicy.RUNTIME) public @interface BeforeAll {}
	@Retention(RetentionPolicy.RUNTIME) public @interface AfterAll {}
	@Retention(RetentionPolicy.RUNTIME) public @interface Nested {}
	@Retention(RetentionPolicy.RUNTIME) public @interface Disabled { String value() default ""; }
	@Retention(RetentionPolicy.RUNTIME) public @interface DisplayName { String value(); }
	@Retention(RetentionPolicy.RUNTIME) @Repeatable(Tags.class) public @interface Tag { String value(); }
	@Retention(RetentionPolicy.RUNTIME) public @interface Tags { Tag[] value(); }
	@Retention(RetentionPolicy.RUNTIME) public @interface RepeatedTest { int value(); String name() default ""; int failureThreshold() default 0; }
	@Retention(RetentionPolicy.RUNTIME) public @interface Timeout { long value(); TimeUnit unit() default TimeUnit.SECONDS; }
	@Retention(RetentionPolicy.RUNTIME) public @interface Order { int value(); }
	@Retention(RetentionPolicy.RUNTIME) public @interface TestMethodOrder { Class<? extends MethodOrderer> value(); }
	@Retention(RetentionPolicy.RUNTIME) public @interface DisplayNameGeneration { Class<? extends DisplayNameGenerator> value(); }
	@Retention(RetentionPolicy.RUNTIME) public @interface TestInstance {
		Lifecycle value();
		enum Lifecycle { PER_CLASS, PER_METHOD }
	}

	/** Tests run in the order of @Order, then by name, whichever is asked for. */
	public interface MethodOrderer {
		final class OrderAnnotation implements MethodOrderer {}
		final class MethodName implements MethodOrderer {}
		final class DisplayName implements MethodOrderer {}
		final class Random implements MethodOrderer {}
	}
	public interface DisplayNameGenerator {
		final class Standard implements DisplayNameGenerator {}
		final class Simple implements DisplayNameGenerator {}
		final class ReplaceUnderscores implements DisplayNameGenerator {}
	}

	@Retention(RetentionPolicy.RUNTIME) public @interface ParameterizedTest { String name() default ""; boolean autoCloseArguments() default true; }
	@Retention(RetentionPolicy.RUNTIME) public @interface ValueSource {
		String[] strings() default {};
		int[] ints() default {};
		long[] longs() default {};
		short[] shorts() default {};
		byte[] bytes() default {};
		double[] doubles() default {};
		float[] floats() default {};
		char[] chars() default {};
		boolean[] booleans() default {};
		Class<?>[] classes() default {};
	}
	@Retention(RetentionPolicy.RUNTIME) public @interface CsvSource {
		String[] value() default {};
		String textBlock() default "";
		char delimiter() default '\0';
		String delimiterString() default "";
		char quoteCharacter() default '\'';
		String emptyValue() default "";
		String[] nullValues() default {};
		boolean useHeadersInDisplayName() default false;
		boolean ignoreLeadingAndTrailingWhitespace() default true;
	}
	@Retention(RetentionPolicy.RUNTIME) public @interface MethodSource { String[] value() default {}; }
	@Retention(RetentionPolicy.RUNTIME) public @interface NullSource {}
	@Retention(RetentionPolicy.RUNTIME) public @interface EmptySource {}
	@Retention(RetentionPolicy.RUNTIME) public @interface NullAndEmptySource {}
	@Retention(RetentionPolicy.RUNTIME) public @interface EnumSource {
		Class<?> value() default Void.class;
		String[] names() default {};
		Mode mode() default Mode.INCLUDE;
		enum Mode { INCLUDE, EXCLUDE }
	}

	public interface Arguments {
		Object[] get();
		static Arguments of(Object... values) { return () -> values; }
		static Arguments arguments(Object... values) { return of(values); }
	}
	public interface TestInfo { String getDisplayName(); }
	public interface RepetitionInfo {
		int getCurrentRepetition();
		int getTotalRepetitions();
	}

	public interface Executable { void execute() throws Throwable; }
	public interface ThrowingSupplier<T> { T get() throws Throwable; }

	public static final class Assertions extends JUnitEquals {
		private Assertions() {}

		public static void assertTrue(boolean b) { check(b, "expected: <true> but was: <false>", null); }
		public static void assertTrue(boolean b, String message) { check(b, "expected: <true> but was: <false>", message); }
		public static void assertTrue(boolean b, Supplier<String> message) { check(b, "expected: <true> but was: <false>", message); }
		public static void assertTrue(BooleanSupplier b) { assertTrue(b.getAsBoolean()); }
		public static void assertTrue(BooleanSupplier b, String message) { assertTrue(b.getAsBoolean(), message); }
		public static void assertTrue(BooleanSupplier b, Supplier<String> message) { assertTrue(b.getAsBoolean(), message); }
		public static void assertFalse(boolean b) { check(!b, "expected: <false> but was: <true>", null); }
		public static void assertFalse(boolean b, String message) { check(!b, "expected: <false> but was: <true>", message); }
		public static void assertFalse(boolean b, Supplier<String> message) { check(!b, "expected: <false> but was: <true>", message); }
		public static void assertFalse(BooleanSupplier b) { assertFalse(b.getAsBoolean()); }
		public static void assertFalse(BooleanSupplier b, String message) { assertFalse(b.getAsBoolean(), message); }
		public static void assertFalse(BooleanSupplier b, Supplier<String> message) { assertFalse(b.getAsBoolean(), message); }
		public static void assertNull(Object o) { isNull(o, null); }
		public static void assertNull(Object o, String message) { isNull(o, message); }
		public static void assertNull(Object o, Supplier<String> message) { isNull(o, message); }
		public static void assertNotNull(Object o) { check(o != null, "expected: not <null>", null); }
		public static void assertNotNull(Object o, String message) { check(o != null, "expected: not <null>", message); }
		public static void assertNotNull(Object o, Supplier<String> message) { check(o != null, "expected: not <null>", message); }
		public static void assertSame(Object e, Object a) { identical(e, a, null); }
		public static void assertSame(Object e, Object a, String message) { identical(e, a, message); }
		public static void assertSame(Object e, Object a, Supplier<String> message) { identical(e, a, message); }
		public static void assertNotSame(Object e, Object a) { check(e != a, "expected: not same", null); }
		public static void assertNotSame(Object e, Object a, String message) { check(e != a, "expected: not same", message); }
		public static void assertNotSame(Object e, Object a, Supplier<String> message) { check(e != a, "expected: not same", message); }

		public static <V> V fail() { throw failure(null, ""); }
		public static <V> V fail(String message) { throw failure(message, ""); }
		public static <V> V fail(Supplier<String> message) { throw failure(message, ""); }
		public static <V> V fail(Throwable cause) { throw failure(String.valueOf(cause), ""); }
		public static <V> V fail(String message, Throwable cause) { throw failure(message, ""); }

		public static <T extends Throwable> T assertThrows(Class<T> type, Executable e) { return thrown(type, e, false, null); }
		public static <T extends Throwable> T assertThrows(Class<T> type, Executable e, String message) { return thrown(type, e, false, message); }
		public static <T extends Throwable> T assertThrows(Class<T> type, Executable e, Supplier<String> message) { return thrown(type, e, false, message); }
		public static <T extends Throwable> T assertThrowsExactly(Class<T> type, Executable e) { return thrown(type, e, true, null); }
		public static <T extends Throwable> T assertThrowsExactly(Class<T> type, Executable e, String message) { return thrown(type, e, true, message); }
		public static <T extends Throwable> T assertThrowsExactly(Class<T> type, Executable e, Supplier<String> message) { return thrown(type, e, true, message); }

		public static void assertDoesNotThrow(Executable e) { assertDoesNotThrow(e, (String) null); }
		public static void assertDoesNotThrow(Executable e, String message) { quiet(() -> { e.execute(); return null; }, message); }
		public static void assertDoesNotThrow(Executable e, Supplier<String> message) { quiet(() -> { e.execute(); return null; }, message); }
		public static <T> T assertDoesNotThrow(ThrowingSupplier<T> s) { return quiet(s, null); }
		public static <T> T assertDoesNotThrow(ThrowingSupplier<T> s, String message) { return quiet(s, message); }
		public static <T> T assertDoesNotThrow(ThrowingSupplier<T> s, Supplier<String> message) { return quiet(s, message); }

		public static <T> T assertInstanceOf(Class<T> type, Object o) { return instance(type, o, null); }
		public static <T> T assertInstanceOf(Class<T> type, Object o, String message) { return instance(type, o, message); }
		public static <T> T assertInstanceOf(Class<T> type, Object o, Supplier<String> message) { return instance(type, o, message); }

		public static void assertIterableEquals(Iterable<?> e, Iterable<?> a) { iterables(e, a, null); }
		public static void assertIterableEquals(Iterable<?> e, Iterable<?> a, String message) { iterables(e, a, message); }
		public static void assertIterableEquals(Iterable<?> e, Iterable<?> a, Supplier<String> message) { iterables(e, a, message); }
		public static void assertLinesMatch(List<String> e, List<String> a) { lines(e, a, null); }
		public static void assertLinesMatch(List<String> e, List<String> a, String message) { lines(e, a, message); }

		public static void assertAll(Executable... all) { assertAll((String) null, Arrays.stream(all)); }
		public static void assertAll(String heading, Executable... all) { assertAll(heading, Arrays.stream(all)); }
		public static void assertAll(Collection<Executable> all) { assertAll((String) null, all.stream()); }
		public static void assertAll(String heading, Collection<Executable> all) { assertAll(heading, all.stream()); }
		public static void assertAll(Stream<Executable> all) { assertAll((String) null, all); }
		/** Ends at the first that fails: the verdict is the same. */
		public static void assertAll(String heading, Stream<Executable> all) {
			all.forEachOrdered((e) -> {
				try {
					e.execute();
				} catch (Throwable t) {
					throw JUnit.<RuntimeException>sneak(t);
				}
			});
		}

		public static void assertTimeout(Duration d, Executable e) { timely(d, () -> { e.execute(); return null; }, null); }
		public static void assertTimeout(Duration d, Executable e, String message) { timely(d, () -> { e.execute(); return null; }, message); }
		public static <T> T assertTimeout(Duration d, ThrowingSupplier<T> s) { return timely(d, s, null); }
		public static <T> T assertTimeout(Duration d, ThrowingSupplier<T> s, String message) { return timely(d, s, message); }
		public static void assertTimeoutPreemptively(Duration d, Executable e) { preempted(d, () -> { e.execute(); return null; }, null); }
		public static void assertTimeoutPreemptively(Duration d, Executable e, String message) { preempted(d, () -> { e.execute(); return null; }, message); }
		public static <T> T assertTimeoutPreemptively(Duration d, ThrowingSupplier<T> s) { return preempted(d, s, null); }
		public static <T> T assertTimeoutPreemptively(Duration d, ThrowingSupplier<T> s, String message) { return preempted(d, s, message); }

		private static void check(boolean holds, String what, Object message) {
			if (!holds) throw failure(message, what);
		}
		private static void isNull(Object o, Object message) {
			if (o != null) throw failure(message, "expected: <null> but was: " + show(o));
		}
		private static void identical(Object e, Object a, Object message) {
			if (e != a) throw failure(message, "not the same: " + different(e, a));
		}

		private static <T extends Throwable> T thrown(Class<T> type, Executable e, boolean exactly, Object message) {
			try {
				e.execute();
			} catch (Throwable t) {
				if (exactly ? t.getClass() == type : type.isInstance(t)) return type.cast(t);
				throw failure(message, "unexpected exception type thrown, expected: <" + type.getName() + "> but was: <" + t.getClass().getName() + ">");
			}
			throw failure(message, "expected " + type.getName() + " to be thrown, but nothing was thrown");
		}
		private static <T> T quiet(ThrowingSupplier<T> s, Object message) {
			try {
				return s.get();
			} catch (Throwable t) {
				throw failure(message, "unexpected exception thrown: " + t);
			}
		}
		private static <T> T instance(Class<T> type, Object o, Object message) {
			if (!type.isInstance(o)) throw failure(message, "expected an instance of " + type.getName() + " but was: " + show(o));
			return type.cast(o);
		}
		private static void iterables(Iterable<?> e, Iterable<?> a, Object message) {
			if (e == a) return;
			if (e == null || a == null) throw failure(message, different(e, a));
			Iterator<?> i = e.iterator(), k = a.iterator();
			for (int n = 0; i.hasNext() || k.hasNext(); n++) {
				if (!i.hasNext() || !k.hasNext()) throw failure(message, "iterable lengths differ at index [" + n + "]: " + different(e, a));
				Object x = i.next(), y = k.next();
				if (x instanceof Iterable && y instanceof Iterable) iterables((Iterable<?>) x, (Iterable<?>) y, message);
				else if (!Objects.equals(x, y)) throw failure(message, "iterable contents differ at index [" + n + "], " + different(x, y));
			}
		}
		private static void lines(List<String> e, List<String> a, Object message) {
			boolean match = e.size() == a.size();
			for (int i = 0; match && i < e.size(); i++) match = e.get(i).equals(a.get(i)) || a.get(i).matches(e.get(i));
			if (!match) throw failure(message, "lines differ, " + different(e, a));
		}
		private static <T> T timely(Duration d, ThrowingSupplier<T> s, Object message) {
			long start = System.nanoTime();
			T value;
			try {
				value = s.get();
			} catch (Throwable t) {
				throw JUnit.<RuntimeException>sneak(t);
			}
			if (System.nanoTime() - start > d.toNanos()) throw failure(message, "execution exceeded timeout of " + d.toMillis() + " ms");
			return value;
		}
		private static <T> T preempted(Duration d, ThrowingSupplier<T> s, Object message) {
			Object[] value = { null, null };
			Thread thread = new Thread(() -> {
				try {
					value[0] = s.get();
				} catch (Throwable t) {
					value[1] = t;
				}
			});
			thread.setDaemon(true);
			thread.start();
			try {
				thread.join(Math.max(1, d.toMillis()));
			} catch (InterruptedException e) {
				throw failure(message, "interrupted");
			}
			if (thread.isAlive()) throw failure(message, "execution timed out after " + d.toMillis() + " ms");
			if (value[1] != null) throw JUnit.<RuntimeException>sneak((Throwable) value[1]);
			@SuppressWarnings("unchecked") T result = (T) value[0];
			return result;
		}
	}
}
