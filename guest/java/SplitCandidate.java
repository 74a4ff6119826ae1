// SPDX-License-Identifier: MIT
// Holds the program and answers SplitJudge's calls; the test is never sent here. fd 3: calls; fd 4: replies.
// It is compiled once, without any program, so it finds the program's class by name; SplitProgram.java is compiled with each.
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

final class SplitCandidate {
	public static void main(String[] arguments) throws Exception {
		SplitCodec codec = new SplitCodec(3, 4);
		Map<String, Object> instances = new HashMap<>(); // by their numbers
		Class<?> program = null;
		for (byte[] frame; (frame = codec.receive()) != null;) {
			byte[] id = Arrays.copyOfRange(frame, 1, 17);
			SplitCodec.Reader in = new SplitCodec.Reader(frame, 17);
			if (frame[0] == 'E') {
				codec.send(start(id, 'E').done());
				break;
			}
			boolean changes = frame[0] == 'c';
			String[] names = in.text().split(" ");
			String number = names[0], name = names[2];
			Object[] values = (Object[]) in.get();
			SplitCodec.Writer reply = start(id, 'R');
			try {
				if (program == null) program = Class.forName(names[1], false, SplitCandidate.class.getClassLoader());
				if (name.equals("<init>")) {
					instances.put(number, make(program, values));
					reply.put(null);
					if (changes) reply.put(values);
					codec.send(reply.done());
					continue;
				}
				Call call = find(program, name, values);
				Object instance = instances.get(number);
				if (!Modifier.isStatic(call.method.getModifiers()) && instance == null) instances.put(number, instance = make(program, new Object[0]));
				reply.put(call.method.invoke(instance, call.values));
				if (changes) reply.put(values);
				codec.send(reply.done());
			} catch (InvocationTargetException e) {
				codec.send(thrown(id, e.getCause()));
			} catch (SplitCodec.Refused e) {
				codec.send(said(id, 'L', e.getMessage()));
			} catch (NoSuchMethodException e) {
				codec.send(said(id, 'U', e.getMessage()));
			} catch (ReflectiveOperationException e) {
				codec.send(said(id, 'U', name));
			} catch (LinkageError e) { // a class whose static initializer throws
				codec.send(thrown(id, e));
			}
		}
		// Ends without waiting for the program's threads or running shutdown hooks.
		Runtime.getRuntime().halt(0);
	}

	private static Object make(Class<?> program, Object[] values) throws ReflectiveOperationException {
		Constructor<?> wide = null;
		boolean isPrivate = false;
		for (Constructor<?> c : program.getDeclaredConstructors()) {
			int fits = fit(c.getParameterTypes(), values);
			isPrivate = isPrivate || fits != NOT && Modifier.isPrivate(c.getModifiers());
			if (fits == NOT || Modifier.isPrivate(c.getModifiers())) continue;
			if (fits == EXACT || wide == null) wide = c;
			if (fits == EXACT) break;
		}
		if (wide == null) throw new NoSuchMethodException(program.getName() + "(" + (values.length > 0 ? "…" : "") + ")" + (isPrivate ? " so that a test may call it: it is private" : ""));
		wide.setAccessible(true);
		return wide.newInstance(values);
	}

	private static final class Call {
		final Method method;
		final Object[] values;
		Call(Method method, Object[] values) { this.method = method; this.values = values; }
	}

	/** Chooses like Java: own before inherited, equal types before wider ones, fixed before variable numbers of arguments. */
	private static Call find(Class<?> program, String name, Object[] values) throws NoSuchMethodException {
		List<Method> named = new ArrayList<>();
		for (Class<?> c = program; c != null && c != Object.class; c = c.getSuperclass())
			named.addAll(Arrays.asList(c.getDeclaredMethods()));
		named.addAll(Arrays.asList(program.getMethods())); // interfaces' default ones
		named.removeIf((m) -> !m.getName().equals(name) || m.isSynthetic() || Modifier.isAbstract(m.getModifiers()));
		boolean isThere = !named.isEmpty();
		named.removeIf((m) -> Modifier.isPrivate(m.getModifiers())); // the test's class could not call these
		if (isThere && named.isEmpty()) throw new NoSuchMethodException(name + " so that a test may call it: it is private");
		Method wide = null;
		for (Method m : named) {
			m.trySetAccessible();
			int fits = fit(m.getParameterTypes(), values);
			if (fits == EXACT) return new Call(m, values);
			if (fits == WIDE && wide == null) wide = m;
		}
		if (wide != null) return new Call(wide, values);
		for (Method m : named) {
			Object[] packed = m.isVarArgs() ? pack(m.getParameterTypes(), values) : null;
			if (packed != null && fit(m.getParameterTypes(), packed) != NOT) return new Call(m, packed);
		}
		Object[] narrow = narrow(values);
		for (Method m : named)
			if (fit(m.getParameterTypes(), narrow) != NOT) return new Call(m, narrow);
		throw new NoSuchMethodException(name);
	}

	private static final int NOT = 0, WIDE = 1, EXACT = 2;

	private static int fit(Class<?>[] types, Object[] values) {
		if (types.length != values.length) return NOT;
		int fits = EXACT;
		for (int i = 0; i < types.length; i++) {
			Object one = Array.newInstance(types[i], 1);
			try {
				Array.set(one, 0, values[i]); // unboxes and widens like a call
			} catch (IllegalArgumentException | NullPointerException e) {
				return NOT;
			}
			if (types[i].isPrimitive() ? Array.get(one, 0).getClass() != values[i].getClass() : types[i] == Object.class) fits = WIDE;
		}
		return fits;
	}

	/** Passes whole numbers as int: a test may write 3 where the declaration has a double and the program an int. */
	private static Object[] narrow(Object[] values) {
		Object[] narrow = values.clone();
		for (int i = 0; i < values.length; i++) {
			if (!(values[i] instanceof Double || values[i] instanceof Float || values[i] instanceof Long)) continue;
			Number n = (Number) values[i];
			if (n.doubleValue() == n.intValue()) narrow[i] = n.intValue();
		}
		return narrow;
	}

	/** The arguments from the last parameter on, as one array; null if there are too few, or their types differ. */
	private static Object[] pack(Class<?>[] types, Object[] values) {
		int fixed = types.length - 1;
		if (values.length < fixed) return null;
		Object[] packed = Arrays.copyOf(values, types.length);
		Object rest = packed[fixed] = Array.newInstance(types[fixed].getComponentType(), values.length - fixed);
		try {
			for (int i = fixed; i < values.length; i++) Array.set(rest, i - fixed, values[i]);
		} catch (IllegalArgumentException | NullPointerException e) {
			return null;
		}
		return packed;
	}

	private static SplitCodec.Writer start(byte[] id, char word) throws Exception {
		SplitCodec.Writer w = new SplitCodec.Writer(true);
		w.raw(id);
		w.word(word);
		return w;
	}

	private static byte[] said(byte[] id, char word, String text) throws Exception {
		SplitCodec.Writer w = start(id, word);
		w.text(text);
		return w.done();
	}

	private static byte[] thrown(byte[] id, Throwable t) throws Exception {
		SplitCodec.Writer w = start(id, t instanceof Exception ? 'T' : 'X');
		String message;
		try {
			message = t.getMessage();
		} catch (Throwable e) {
			message = null;
		}
		StringBuilder types = new StringBuilder(t.getClass().getName());
		for (Class<?> c = t.getClass().getSuperclass(); t instanceof Exception && c != Exception.class && c != Throwable.class; c = c.getSuperclass())
			types.append(' ').append(c.getName());
		w.text(types.toString());
		w.put(message == null || message.length() <= 2000 ? message : message.substring(0, 2000));
		return w.done();
	}
}
