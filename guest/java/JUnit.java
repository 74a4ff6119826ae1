// SPDX-License-Identifier: MIT
// Runs classes of tests for JUnit 5 (Jupiter.java) and 4 (JUnitFour.java), one test after another, and throws at the first that
// fails: nothing after it can change the verdict. Judge.java and SplitJudge.java report what is thrown. It keeps nothing that a
// program in the same process could reach by a name.
package fumehood;

import java.lang.annotation.Annotation;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public final class JUnit {
	private JUnit() {}

	public static void run(String... names) throws Throwable {
		ClassLoader loader = ClassLoader.getSystemClassLoader();
		int count = 0;
		for (String name : names) loader.setClassAssertionStatus(name, true);
		for (String name : names) {
			Class<?> c = Class.forName(name, false, loader);
			if (!Modifier.isAbstract(c.getModifiers()) && !c.isEnum()) count += new Level(null, c).run();
		}
		if (count == 0) throw error("no test was run: all are disabled, or there is none");
	}

	@SuppressWarnings("unchecked") static <E extends Throwable> E sneak(Throwable t) throws E { throw (E) t; }

	private static AssertionError error(String what) {
		AssertionError e = new AssertionError(what);
		e.setStackTrace(new StackTraceElement[0]); // the line is in the text
		return e;
	}

	private static boolean has(java.lang.reflect.AnnotatedElement e, Class<? extends Annotation> a) { return e.isAnnotationPresent(a); }
	private static boolean isOff(java.lang.reflect.AnnotatedElement e) { return has(e, Jupiter.Disabled.class) || has(e, JUnitFour.Ignore.class); }

	/** A class of tests, within those that it is nested in. */
	private static final class Level {
		final Level outer;
		final Class<?> of;
		final List<Method> methods = new ArrayList<>(); // of base classes first; one that is overridden is not there
		final boolean once;                             // one instance for all tests
		Object instance;

		Level(Level outer, Class<?> of) {
			this.outer = outer;
			this.of = of;
			Jupiter.TestInstance t = of.getAnnotation(Jupiter.TestInstance.class);
			once = t != null && t.value() == Jupiter.TestInstance.Lifecycle.PER_CLASS;
			List<Class<?>> line = new ArrayList<>();
			for (Class<?> c = of; c != null && c != Object.class; c = c.getSuperclass()) {
				line.add(c);
				line.addAll(Arrays.asList(c.getInterfaces()));
			}
			Collections.reverse(line);
			Map<String, Method> all = new LinkedHashMap<>();
			for (Class<?> c : line)
				for (Method m : sorted(c.getDeclaredMethods())) {
					if (m.isSynthetic() || Modifier.isAbstract(m.getModifiers())) continue;
					String key = (Modifier.isPrivate(m.getModifiers()) ? c.getName() : "") + m.getName() + Arrays.toString(m.getParameterTypes());
					all.remove(key);
					all.put(key, m);
				}
			for (Method m : all.values()) {
				m.setAccessible(true);
				methods.add(m);
			}
		}

		private static List<Method> sorted(Method[] methods) {
			List<Method> list = new ArrayList<>(Arrays.asList(methods));
			list.sort(Comparator.comparing((Method m) -> m.isAnnotationPresent(Jupiter.Order.class) ? m.getAnnotation(Jupiter.Order.class).value() : Integer.MAX_VALUE / 2)
				.thenComparing(Method::getName).thenComparing((m) -> Arrays.toString(m.getParameterTypes())));
			return list;
		}

		/** How many tests it ran. */
		int run() throws Throwable {
			int count = 0;
			if (isOff(of)) return 0;
			JUnitFour.RunWith with = of.getAnnotation(JUnitFour.RunWith.class);
			if (with != null && with.value() != JUnitFour.BlockJUnit4ClassRunner.class && with.value() != JUnitFour.JUnit4.class) throw error(of.getSimpleName() + ": @RunWith(" + with.value().getSimpleName() + ") is not there");
			if (once) renew(true);
			boolean begun = false;
			for (Method m : methods) {
				if (!isTest(m) || isOff(m)) continue;
				if (!begun) all(Jupiter.BeforeAll.class, JUnitFour.BeforeClass.class);
				begun = true;
				count += runAll(m);
			}
			Class<?>[] inner = of.getDeclaredClasses();
			Arrays.sort(inner, Comparator.comparing(Class::getName));
			for (Class<?> c : inner) {
				if (!has(c, Jupiter.Nested.class)) continue;
				if (!begun) all(Jupiter.BeforeAll.class, JUnitFour.BeforeClass.class);
				begun = true;
				count += new Level(this, c).run();
			}
			if (begun) all(Jupiter.AfterAll.class, JUnitFour.AfterClass.class);
			return count;
		}

		private static boolean isTest(Method m) {
			return has(m, Jupiter.Test.class) || has(m, Jupiter.RepeatedTest.class) || has(m, Jupiter.ParameterizedTest.class) || has(m, JUnitFour.Test.class);
		}

		private int runAll(Method m) throws Throwable {
			String name = of.getSimpleName() + "." + m.getName();
			int count = 0;
			if (has(m, Jupiter.RepeatedTest.class)) {
				int total = m.getAnnotation(Jupiter.RepeatedTest.class).value();
				for (int i = 1; i <= total; i++, count++) runOne(m, name + " (repetition " + i + ")", given(m, name, new Object[0], i, total));
				return count;
			}
			if (has(m, Jupiter.ParameterizedTest.class)) {
				for (Object[] row : guarded(name, () -> JUnitSources.rowsOf(m, of, instance))) {
					String shown = Arrays.deepToString(row);
					String full = name + (shown.length() > 120 ? shown.substring(0, 120) + "…]" : shown);
					runOne(m, full, given(m, full, guarded(full, () -> JUnitSources.fit(m, row)), 0, 0));
					count++;
				}
				return count;
			}
			runOne(m, name, given(m, name, new Object[0], 0, 0));
			return 1;
		}

		/** The arguments, and behind them what JUnit gives to parameters by their type. */
		private static Object[] given(Method m, String name, Object[] values, int repetition, int total) {
			Class<?>[] types = m.getParameterTypes();
			Object[] all = Arrays.copyOf(values, types.length);
			for (int i = values.length; i < types.length; i++) {
				if (types[i] == Jupiter.TestInfo.class) all[i] = (Jupiter.TestInfo) () -> {
					Jupiter.DisplayName d = m.getAnnotation(Jupiter.DisplayName.class);
					return d != null ? d.value() : m.getName() + "()";
				};
				else if (types[i] == Jupiter.RepetitionInfo.class && total > 0) all[i] = new Jupiter.RepetitionInfo() {
					public int getCurrentRepetition() { return repetition; }
					public int getTotalRepetitions() { return total; }
				};
				else throw error(name + ": nothing gives its parameter of type " + types[i].getSimpleName());
			}
			return all;
		}

		private interface Step<T> { T take() throws Throwable; }

		/** What a step throws is told with the test's name and the line in the test. */
		private <T> T guarded(String name, Step<T> step) {
			try {
				return step.take();
			} catch (Throwable t) {
				throw error(name + ": " + describe(t));
			}
		}

		private String describe(Throwable t) {
			Throwable e = t instanceof InvocationTargetException && t.getCause() != null ? t.getCause() : t;
			String text = e.getClass() == AssertionError.class ? String.valueOf(e.getMessage()) : String.valueOf(e);
			Level top = this;
			while (top.outer != null) top = top.outer;
			for (StackTraceElement at : e.getStackTrace())
				if (at.getClassName().equals(top.of.getName()) || at.getClassName().startsWith(top.of.getName() + "$"))
					return text + " [line " + at.getLineNumber() + " of the test]";
			return text;
		}

		/** Makes new instances, from the outermost on, of classes that do not keep theirs. */
		private void renew(boolean even) throws Throwable {
			if (outer != null) outer.renew(false);
			if (once && !even && instance != null) return;
			instance = guarded(of.getSimpleName(), () -> {
				boolean inner = outer != null && !Modifier.isStatic(of.getModifiers());
				Constructor<?> made = inner ? of.getDeclaredConstructor(outer.of) : of.getDeclaredConstructor();
				made.setAccessible(true);
				return inner ? made.newInstance(outer.instance) : made.newInstance();
			});
		}

		private void all(Class<? extends Annotation> five, Class<? extends Annotation> four) {
			for (Method m : methods)
				if (has(m, five) || has(m, four)) guarded(of.getSimpleName() + "." + m.getName(), () -> m.invoke(instance));
		}

		private void each(String name, Class<? extends Annotation> five, Class<? extends Annotation> four, boolean before) {
			if (before && outer != null) outer.each(name, five, four, true);
			List<Method> list = new ArrayList<>(methods);
			if (!before) Collections.reverse(list);
			for (Method m : list)
				if (has(m, five) || has(m, four)) guarded(name + ", " + m.getName(), () -> m.invoke(instance, given(m, name, new Object[0], 0, 0)));
			if (!before && outer != null) outer.each(name, five, four, false);
		}

		private void runOne(Method m, String name, Object[] arguments) throws Throwable {
			renew(false);
			each(name, Jupiter.BeforeEach.class, JUnitFour.Before.class, true);
			JUnitFour.Test four = m.getAnnotation(JUnitFour.Test.class);
			Jupiter.Timeout limit = m.getAnnotation(Jupiter.Timeout.class);
			long start = System.nanoTime();
			guarded(name, () -> {
				if (four == null || four.expected() == JUnitFour.None.class) return m.invoke(instance, arguments);
				return Jupiter.Assertions.assertThrows(four.expected(), () -> {
					try {
						m.invoke(instance, arguments);
					} catch (InvocationTargetException e) {
						throw e.getCause();
					}
				});
			});
			long took = System.nanoTime() - start, most = four != null ? four.timeout() * 1_000_000 : limit != null ? limit.unit().toNanos(limit.value()) : 0;
			if (most > 0 && took > most) throw error(name + ": it took longer than " + most / 1_000_000 + " ms");
			each(name, Jupiter.AfterEach.class, JUnitFour.After.class, false);
		}
	}
}
