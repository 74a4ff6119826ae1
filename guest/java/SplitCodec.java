// SPDX-License-Identifier: MIT
// How values cross between SplitJudge and SplitCandidate: frames of a length (4 bytes, big-endian, at most FRAME_MAX) and
// that many bytes. Each value begins with a tag; an object that occurred before in the same frame is encoded as a reference.
// Decoding only makes objects of java.lang and java.util, by their constructors: no name from outside is looked up,
// and Java's own serialisation is not used.
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.*;

final class SplitCodec {
	static final int FRAME_MAX = 8 << 20, DEPTH_MAX = 500, OBJECTS_MAX = 1000000;

	/** A value cannot cross, or bytes are no valid value. */
	static final class Refused extends Exception {
		Refused(String what) { super(what, null, false, false); }
	}

	/** Stands for an object of a class that cannot cross; equal only to itself. */
	static final class Opaque {
		final String type;
		Opaque(String type) { this.type = type; }
		@Override public String toString() { return "an object of " + type; }
	}

	/** One of the decoded values was NaN or an infinity. */
	static boolean notFinite;

	/** A descriptor that this process inherited. */
	static FileDescriptor descriptor(int number) throws ReflectiveOperationException {
		FileDescriptor d = new FileDescriptor();
		Field field = FileDescriptor.class.getDeclaredField("fd");
		field.setAccessible(true);
		field.setInt(d, number);
		return d;
	}

	private final DataInputStream in;
	private final FileOutputStream out;

	SplitCodec(int from, int to) throws ReflectiveOperationException {
		in = new DataInputStream(new java.io.BufferedInputStream(new FileInputStream(descriptor(from)), 1 << 16));
		out = new FileOutputStream(descriptor(to));
	}

	void send(byte[] body) throws IOException {
		byte[] frame = new byte[4 + body.length];
		for (int i = 0; i < 4; i++) frame[i] = (byte) (body.length >>> (24 - 8 * i));
		System.arraycopy(body, 0, frame, 4, body.length);
		out.write(frame);
	}

	/** The next frame; null at the end of the stream. */
	byte[] receive() throws IOException, Refused {
		int first = in.read();
		if (first < 0) return null;
		try {
			int n = first << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort();
			if (n < 0 || n > FRAME_MAX) throw new Refused("a frame of " + (n & 0xffffffffL) + " bytes");
			byte[] body = new byte[n];
			in.readFully(body);
			return body;
		} catch (java.io.EOFException e) {
			throw new Refused("half a frame");
		}
	}

	// ----------------------------------------------------------------------------------------------------- encoding

	static final class Writer {
		final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		private final DataOutputStream to = new DataOutputStream(bytes);
		private final IdentityHashMap<Object, Integer> seen = new IdentityHashMap<>();
		private final boolean opaque;
		private int depth;

		/** opaque: objects of other classes cross by the name of their class; otherwise they are refused. */
		Writer(boolean opaque) { this.opaque = opaque; }

		void raw(byte[] b) throws IOException { to.write(b); }
		void word(char c) throws IOException { to.writeByte(c); }

		void text(String s) throws IOException {
			to.writeInt(s.length());
			for (int i = 0; i < s.length(); i++) to.writeChar(s.charAt(i));
		}

		/** Whether s is the interned object for its characters, like a literal. (If there is none yet, a copy is interned.) */
		private static boolean isLiteral(String s) { return new String(s).intern() == s; }

		byte[] done() throws Refused {
			if (bytes.size() > FRAME_MAX) throw new Refused("more than " + FRAME_MAX + " bytes");
			return bytes.toByteArray();
		}

		void put(Object v) throws IOException, Refused {
			if (bytes.size() > FRAME_MAX) throw new Refused("more than " + FRAME_MAX + " bytes");
			if (v == null) to.writeByte('0');
			else if (v instanceof Boolean) to.writeByte((Boolean) v ? 'T' : 'F');
			else if (v instanceof Integer) { to.writeByte('i'); to.writeInt((Integer) v); }
			else if (v instanceof Long) { to.writeByte('l'); to.writeLong((Long) v); }
			else if (v instanceof Double) { to.writeByte('d'); to.writeLong(Double.doubleToRawLongBits((Double) v)); }
			else if (v instanceof Float) { to.writeByte('f'); to.writeInt(Float.floatToRawIntBits((Float) v)); }
			else if (v instanceof Character) { to.writeByte('c'); to.writeChar((Character) v); }
			else if (v instanceof Short) { to.writeByte('h'); to.writeShort((Short) v); }
			else if (v instanceof Byte) { to.writeByte('b'); to.writeByte((Byte) v); }
			else if (v instanceof String) { to.writeByte(isLiteral((String) v) ? 's' : 'S'); text((String) v); }
			else object(v);
		}

		private void object(Object v) throws IOException, Refused {
			Integer number = seen.get(v);
			if (number != null) {
				to.writeByte('@');
				to.writeInt(number);
				return;
			}
			if (seen.size() >= OBJECTS_MAX) throw new Refused("more than " + OBJECTS_MAX + " objects");
			seen.put(v, seen.size());
			if (++depth > DEPTH_MAX) throw new Refused("values nested deeper than " + DEPTH_MAX);
			if (v.getClass().isArray()) array(v);
			else if (v instanceof Map) map((Map<?, ?>) v);
			else if (v instanceof Collection) collection((Collection<?>) v);
			else if (v instanceof Map.Entry) { to.writeByte('E'); put(((Map.Entry<?, ?>) v).getKey()); put(((Map.Entry<?, ?>) v).getValue()); }
			else if (v instanceof Optional) { to.writeByte('O'); put(((Optional<?>) v).orElse(null)); }
			else if (v instanceof OptionalInt) { to.writeByte('P'); put(((OptionalInt) v).isPresent() ? ((OptionalInt) v).getAsInt() : null); }
			else if (v instanceof OptionalLong) { to.writeByte('Q'); put(((OptionalLong) v).isPresent() ? ((OptionalLong) v).getAsLong() : null); }
			else if (v instanceof OptionalDouble) { to.writeByte('R'); put(((OptionalDouble) v).isPresent() ? ((OptionalDouble) v).getAsDouble() : null); }
			else if (v.getClass() == BigInteger.class || v.getClass() == BigDecimal.class) { to.writeByte(v instanceof BigInteger ? 'I' : 'D'); text(v.toString()); }
			else if (v.getClass() == StringBuilder.class) { to.writeByte('B'); text(v.toString()); }
			else if (v.getClass() == Object.class) to.writeByte('N');
			else if (opaque) { to.writeByte('X'); text(v.getClass().getName()); }
			else throw new Refused("an object of " + v.getClass().getName());
			depth--;
		}

		private void array(Object v) throws IOException, Refused {
			Class<?> item = v.getClass().getComponentType();
			int dimensions = 1, n = Array.getLength(v), type;
			for (; item.isArray(); dimensions++) item = item.getComponentType();
			for (type = 0; type < ITEMS.length && ITEMS[type] != item; type++) continue;
			if (type == ITEMS.length) throw new Refused("an array of " + item.getName());
			to.writeByte('A');
			to.writeByte(dimensions);
			to.writeByte(type);
			to.writeInt(n);
			for (int i = 0; i < n; i++) put(Array.get(v, i));
		}

		private void map(Map<?, ?> m) throws IOException, Refused {
			to.writeByte('M');
			to.writeByte(m instanceof SortedMap ? ((SortedMap<?, ?>) m).comparator() == null ? 't' : 'k' : m instanceof LinkedHashMap ? 'k' : kind(m) == 'u' ? 'u' : 'h');
			to.writeInt(m.size());
			for (Map.Entry<?, ?> e : m.entrySet()) { put(e.getKey()); put(e.getValue()); }
		}

		private void collection(Collection<?> c) throws IOException, Refused {
			char kind = c instanceof SortedSet ? ((SortedSet<?>) c).comparator() == null ? 't' : 'k' : c instanceof LinkedHashSet ? 'k' : c instanceof Set ? 'h' :
				c instanceof LinkedList ? 'L' : c instanceof ArrayDeque ? 'q' : c instanceof PriorityQueue ? 'p' : 'a';
			if (kind == 'a' || kind == 'h') kind = kind(c) == 'u' ? kind == 'a' ? 'U' : 'u' : kind(c) == 's' ? 's' : kind;
			to.writeByte('C');
			to.writeByte(kind);
			to.writeInt(c.size());
			for (Object o : c) put(o);
		}

		/** The kind of a list: u: immutable; s: of fixed size, as made by Arrays.asList. */
		private static char kind(Object o) {
			String name = o.getClass().getName();
			return name.startsWith("java.util.ImmutableCollections$") || name.startsWith("java.util.Collections$") ? 'u' :
				name.equals("java.util.Arrays$ArrayList") ? 's' : ' ';
		}
	}

	private static final Class<?>[] ITEMS = { int.class, long.class, double.class, float.class, boolean.class, char.class,
		byte.class, short.class, String.class, Object.class, Integer.class, Long.class, Double.class, Float.class,
		Boolean.class, Character.class, List.class, ArrayList.class, Map.class, Set.class };

	// ----------------------------------------------------------------------------------------------------- decoding

	static final class Reader {
		private final byte[] from;
		private int at, depth;
		private final ArrayList<Object> objects = new ArrayList<>();

		Reader(byte[] from, int at) { this.from = from; this.at = at; }

		boolean isAtEnd() { return at == from.length; }
		private int left() { return from.length - at; }

		int number(int bytes) throws Refused {
			if (left() < bytes) throw new Refused("half a value");
			int v = 0;
			for (int i = 0; i < bytes; i++) v = v << 8 | from[at++] & 0xff;
			return bytes == 1 ? v : bytes == 2 ? (short) v : v;
		}

		private long wide() throws Refused { return (long) number(4) << 32 | number(4) & 0xffffffffL; }

		/** Reads a number of items, each of which takes at least `bytes` bytes. */
		private int count(int bytes) throws Refused {
			int n = number(4);
			if (n < 0 || n > left() / bytes) throw new Refused("more items than bytes");
			return n;
		}

		String text() throws Refused {
			char[] c = new char[count(2)];
			for (int i = 0; i < c.length; i++) c[i] = (char) number(2);
			return new String(c);
		}

		/** Reads an argument or result. */
		Object get() throws Refused {
			int tag = number(1);
			switch (tag) {
			case '0': return null;
			case 'T': return true;
			case 'F': return false;
			case 'i': return number(4);
			case 'l': return wide();
			case 'd': return noted(Double.longBitsToDouble(wide()));
			case 'f': return (float) noted(Float.intBitsToFloat(number(4)));
			case 'c': return (char) number(2);
			case 'h': return (short) number(2);
			case 'b': return (byte) number(1);
			case 's': return text().intern(); // interned, because tests compare literals by ==
			case 'S': return text();
			case '@': {
				int i = number(4);
				if (i < 0 || i >= objects.size() || objects.get(i) == objects) throw new Refused("a reference to nothing");
				return objects.get(i);
			}
			default: return object(tag);
			}
		}

		private static double noted(double v) {
			notFinite |= !Double.isFinite(v);
			return v;
		}

		private Object object(int tag) throws Refused {
			if (++depth > DEPTH_MAX || objects.size() >= OBJECTS_MAX) throw new Refused("values nested too deep, or too many");
			int number = objects.size();
			objects.add(objects); // reserves its number; the value follows
			Object v;
			switch (tag) {
			case 'A': v = array(number); break;
			case 'M': v = map(number); break;
			case 'C': v = collection(number); break;
			case 'E': v = new AbstractMap.SimpleEntry<>(get(), get()); break;
			case 'O': v = Optional.ofNullable(get()); break;
			case 'P': { Object o = get(); v = o == null ? OptionalInt.empty() : OptionalInt.of((Integer) o); break; }
			case 'Q': { Object o = get(); v = o == null ? OptionalLong.empty() : OptionalLong.of((Long) o); break; }
			case 'R': { Object o = get(); v = o == null ? OptionalDouble.empty() : OptionalDouble.of((Double) o); break; }
			case 'I': v = new BigInteger(digits()); break;
			case 'D': v = new BigDecimal(digits()); break;
			case 'B': v = new StringBuilder(text()); break;
			case 'N': v = new Object(); break;
			case 'X': v = new Opaque(text()); break;
			default: throw new Refused("an unknown tag");
			}
			objects.set(number, v);
			depth--;
			return v;
		}

		private String digits() throws Refused {
			String s = text();
			if (s.length() > 20000 || !s.matches("-?[0-9]+([.][0-9]+)?(E[+-]?[0-9]{1,4})?")) throw new Refused("no number");
			return s;
		}

		private Object array(int number) throws Refused {
			int dimensions = number(1), type = number(1);
			if (dimensions < 1 || dimensions > 8 || type >= ITEMS.length) throw new Refused("an unknown array");
			Class<?> item = ITEMS[type];
			for (int i = 1; i < dimensions; i++) item = item.arrayType();
			int n = count(1);
			Object v = Array.newInstance(item, n);
			objects.set(number, v);
			for (int i = 0; i < n; i++) {
				Object o = get();
				if (o == null && !item.isPrimitive()) continue;
				Array.set(v, i, o); // throws if the type does not match
			}
			return v;
		}

		private Object map(int number) throws Refused {
			int kind = number(1), n = count(2);
			Map<Object, Object> m = kind == 't' ? new TreeMap<>() : kind == 'h' ? new HashMap<>() : new LinkedHashMap<>();
			if ("tkhu".indexOf(kind) < 0) throw new Refused("an unknown map");
			if (kind != 'u') objects.set(number, m);
			for (int i = 0; i < n; i++) {
				Object key = get();
				m.put(key, get());
			}
			return kind == 'u' ? Collections.unmodifiableMap(m) : m;
		}

		private Object collection(int number) throws Refused {
			int kind = number(1), n = count(1);
			Collection<Object> c;
			switch (kind) {
			case 't': c = new TreeSet<>(); break;
			case 'k': case 'u': c = new LinkedHashSet<>(); break;
			case 'h': c = new HashSet<>(); break;
			case 'L': c = new LinkedList<>(); break;
			case 'q': c = new ArrayDeque<>(); break;
			case 'p': c = new PriorityQueue<>(); break;
			case 'a': case 's': case 'U': c = new ArrayList<>(); break;
			default: throw new Refused("an unknown collection");
			}
			if (kind != 'u' && kind != 'U' && kind != 's') objects.set(number, c);
			for (int i = 0; i < n; i++) c.add(get());
			return kind == 'u' ? Collections.unmodifiableSet((Set<Object>) c) : kind == 'U' ?
				Collections.unmodifiableList((List<Object>) c) : kind == 's' ? Arrays.asList(c.toArray()) : c;
		}
	}
}
