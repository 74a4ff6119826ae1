// SPDX-License-Identifier: MIT
// Where JUnit 5's parameterized tests have their arguments from (Jupiter.java has the annotations).
package fumehood;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.stream.BaseStream;

final class JUnitSources {
	private JUnitSources() {}

	static List<Object[]> rowsOf(Method m, Class<?> of, Object instance) throws Throwable {
		List<Object[]> rows = new ArrayList<>();
		boolean both = m.isAnnotationPresent(Jupiter.NullAndEmptySource.class);
		Class<?> first = m.getParameterCount() > 0 ? m.getParameterTypes()[0] : Object.class;
		if (both || m.isAnnotationPresent(Jupiter.NullSource.class)) rows.add(new Object[] { null });
		if (both || m.isAnnotationPresent(Jupiter.EmptySource.class)) rows.add(new Object[] { empty(first) });
		Jupiter.ValueSource values = m.getAnnotation(Jupiter.ValueSource.class);
		if (values != null)
			for (Object list : new Object[] { values.strings(), values.ints(), values.longs(), values.shorts(), values.bytes(), values.doubles(), values.floats(),
				values.chars(), values.booleans(), values.classes() })
				for (int i = 0; i < Array.getLength(list); i++) rows.add(new Object[] { Array.get(list, i) });
		Jupiter.CsvSource csv = m.getAnnotation(Jupiter.CsvSource.class);
		if (csv != null) addCsv(csv, rows);
		Jupiter.EnumSource constants = m.getAnnotation(Jupiter.EnumSource.class);
		if (constants != null) addConstants(constants, first, rows);
		Jupiter.MethodSource methods = m.getAnnotation(Jupiter.MethodSource.class);
		if (methods != null)
			for (String name : methods.value().length == 0 ? new String[] { m.getName() } : methods.value()) addMethod(name, m, of, instance, rows);
		if (rows.isEmpty()) throw new AssertionError("a parameterized test without arguments");
		return rows;
	}

	private static Object empty(Class<?> type) {
		if (type == String.class) return "";
		if (type.isArray()) return Array.newInstance(type.getComponentType(), 0);
		for (Object made : new Object[] { new ArrayList<>(), new HashSet<>(), new HashMap<>() })
			if (type.isInstance(made)) return made;
		throw new AssertionError("nothing is an empty " + type.getName());
	}

	private static void addConstants(Jupiter.EnumSource s, Class<?> first, List<Object[]> rows) {
		Class<?> type = s.value() == Void.class ? first : s.value();
		List<String> names = Arrays.asList(s.names());
		for (Object constant : type.getEnumConstants())
			if (names.isEmpty() || names.contains(((Enum<?>) constant).name()) == (s.mode() == Jupiter.EnumSource.Mode.INCLUDE)) rows.add(new Object[] { constant });
	}

	private static void addMethod(String name, Method test, Class<?> of, Object instance, List<Object[]> rows) throws Throwable {
		Method source = null;
		for (Class<?> c = of; c != null && source == null; c = c.getEnclosingClass())
			for (Method m : c.getDeclaredMethods())
				if (m.getName().equals(name.replaceAll("\\(.*|.*#", "")) && m.getParameterCount() == 0 && !m.equals(test)) source = m;
		if (source == null) throw new AssertionError("no method " + name + " gives arguments");
		source.setAccessible(true);
		Object given;
		try {
			given = source.invoke(Modifier.isStatic(source.getModifiers()) ? null : instance);
		} catch (InvocationTargetException e) {
			throw e.getCause();
		}
		Iterator<?> i;
		if (given instanceof BaseStream) i = ((BaseStream<?, ?>) given).iterator();
		else if (given instanceof Iterable) i = ((Iterable<?>) given).iterator();
		else if (given instanceof Iterator) i = (Iterator<?>) given;
		else {
			List<Object> list = new ArrayList<>();
			for (int k = 0; k < Array.getLength(given); k++) list.add(Array.get(given, k));
			i = list.iterator();
		}
		while (i.hasNext()) {
			Object row = i.next();
			rows.add(row instanceof Jupiter.Arguments ? ((Jupiter.Arguments) row).get() : row instanceof Object[] ? (Object[]) row : new Object[] { row });
		}
	}

	private static void addCsv(Jupiter.CsvSource s, List<Object[]> rows) {
		List<String> lines = new ArrayList<>(Arrays.asList(s.value()));
		for (String line : s.textBlock().split("\n"))
			if (!line.trim().isEmpty() && !line.trim().startsWith("#")) lines.add(line);
		String delimiter = !s.delimiterString().isEmpty() ? s.delimiterString() : s.delimiter() != '\0' ? String.valueOf(s.delimiter()) : ",";
		if (s.useHeadersInDisplayName() && !lines.isEmpty()) lines.remove(0);
		for (String line : lines) rows.add(fields(line, delimiter, s));
	}

	private static Object[] fields(String line, String delimiter, Jupiter.CsvSource s) {
		List<Object> fields = new ArrayList<>();
		for (int i = 0; i <= line.length();) {
			int at = i;
			while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) at++;
			String text;
			if (at < line.length() && line.charAt(at) == s.quoteCharacter()) {
				StringBuilder quoted = new StringBuilder();
				for (at++; at < line.length(); at++) {
					if (line.charAt(at) != s.quoteCharacter()) quoted.append(line.charAt(at));
					else if (at + 1 < line.length() && line.charAt(at + 1) == s.quoteCharacter()) quoted.append(line.charAt(at++));
					else break;
				}
				int end = line.indexOf(delimiter, at);
				i = end < 0 ? line.length() + 1 : end + delimiter.length();
				text = quoted.length() == 0 ? s.emptyValue() : quoted.toString();
			} else {
				int end = line.indexOf(delimiter, i);
				text = line.substring(i, end < 0 ? line.length() : end);
				if (s.ignoreLeadingAndTrailingWhitespace()) text = text.trim();
				i = end < 0 ? line.length() + 1 : end + delimiter.length();
				if (text.isEmpty()) text = null;
			}
			fields.add(text != null && Arrays.asList(s.nullValues()).contains(text) ? null : text);
		}
		return fields.toArray();
	}

	/** As many arguments as the method has parameters for, of their types. */
	static Object[] fit(Method m, Object[] row) throws Throwable {
		Class<?>[] types = m.getParameterTypes();
		Object[] values = new Object[Math.min(row.length, types.length)];
		for (int i = 0; i < values.length; i++) values[i] = convert(row[i], types[i]);
		return values;
	}

	@SuppressWarnings({ "unchecked", "rawtypes" })
	private static Object convert(Object value, Class<?> type) throws Throwable {
		if (!(value instanceof String) || type.isAssignableFrom(String.class)) return value;
		String text = (String) value;
		if (type == char.class || type == Character.class) {
			if (text.length() != 1) throw new AssertionError("\"" + text + "\" is no single character");
			return text.charAt(0);
		}
		if (type == boolean.class || type == Boolean.class) {
			if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) throw new AssertionError("\"" + text + "\" is no boolean");
			return Boolean.valueOf(text);
		}
		Class<?>[] numbers = { byte.class, Byte.class, short.class, Short.class, int.class, Integer.class, long.class, Long.class };
		int at = Arrays.asList(numbers).indexOf(type);
		if (at >= 0) {
			Class<?> box = numbers[at | 1];
			return invoked(box.getMethod("decode", String.class), text.replace("_", ""));
		}
		if (type == double.class || type == Double.class) return Double.valueOf(text.replace("_", ""));
		if (type == float.class || type == Float.class) return Float.valueOf(text.replace("_", ""));
		if (type.isEnum()) return Enum.valueOf((Class) type, text);
		for (String name : new String[] { "valueOf", "parse", "of", "fromString" })
			for (Method m : type.getMethods())
				if (m.getName().equals(name) && Modifier.isStatic(m.getModifiers()) && m.getParameterCount() == 1 && m.getParameterTypes()[0].isAssignableFrom(String.class) &&
					type.isAssignableFrom(m.getReturnType()))
					return invoked(m, text);
		for (Constructor<?> c : type.getConstructors())
			if (c.getParameterCount() == 1 && c.getParameterTypes()[0] == String.class) return invoked(c, text);
		throw new AssertionError("\"" + text + "\" cannot become a " + type.getName());
	}

	private static Object invoked(Executable e, Object argument) throws Throwable {
		try {
			return e instanceof Method ? ((Method) e).invoke(null, argument) : ((Constructor<?>) e).newInstance(argument);
		} catch (InvocationTargetException thrown) {
			throw thrown.getCause();
		}
	}
}
