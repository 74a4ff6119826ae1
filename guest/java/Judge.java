// SPDX-License-Identifier: MIT
// Runs the test (class Main) beside the program (class Solution and what goes with it) and says how it ended.
//
// fd 8: the secret of this run, 32 bytes.
// fd 9: what the program prints, and once "\n" secret " passed 0\n", or " failed N\n" and N bytes of reason.
//
// It is a package of its own, so that no class of the program's (a System, a String) takes the place of one that is meant
// here, and finds the test by its name, for no package can import what is in none. Standard input was moved to fd 8, and
// output copied to fd 9, before Java started; the secret stays unread in the pipe until the test has ended. Who leaves
// before that has said nothing. There is no method here that says "passed" but main, which runs the test first.
package fumehood;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

public final class Judge {
	private static final int REASON_MAX = 600;
	private static boolean begun;

	public static void main(String[] arguments) throws Exception {
		if (begun) throw new IllegalStateException("the test runs");
		begun = true;
		// Whoever sets another one gets what the test prints, and no say in what is said here.
		PrintStream printed = System.out;
		FileInputStream secrets = new FileInputStream(descriptor(8));
		FileOutputStream verdict = new FileOutputStream(descriptor(9));
		Runtime runtime = Runtime.getRuntime();
		String failure = null;
		try {
			Method test = Class.forName("Main").getDeclaredMethod("main", String[].class);
			test.setAccessible(true);
			test.invoke(null, (Object) new String[0]);
		} catch (InvocationTargetException e) {
			failure = describe(e.getCause());
		} catch (Throwable t) {
			failure = describe(t);
		}
		try {
			printed.flush();
			byte[] reason = failure == null ? new byte[0] : failure.getBytes(StandardCharsets.UTF_8);
			byte[] tail = ((failure == null ? " passed " : " failed ") + reason.length + "\n").getBytes(StandardCharsets.US_ASCII);
			byte[] message = new byte[1 + 32 + tail.length + reason.length];
			message[0] = '\n';
			System.arraycopy(tail, 0, message, 33, tail.length);
			System.arraycopy(reason, 0, message, 33 + tail.length, reason.length);
			if (secrets.readNBytes(message, 1, 32) == 32) verdict.write(message);
		} finally {
			// Neither threads that go on nor hooks get a say.
			runtime.halt(failure == null ? 0 : 1);
		}
	}

	/** What the program threw may have methods of the program's; they end before the secret is read. */
	private static String describe(Throwable t) {
		try {
			StringBuilder s = new StringBuilder(String.valueOf(t));
			if (s.length() > REASON_MAX) s.setLength(REASON_MAX);
			for (StackTraceElement at : t.getStackTrace())
				if (at.getClassName().equals("Main") || at.getClassName().startsWith("Main$"))
					return s.append(" [line ").append(at.getLineNumber()).append(" of the test]").toString();
			return s.toString();
		} catch (Throwable other) {
			return "an exception that cannot be shown";
		}
	}

	/** A file descriptor that this process was started with, for which java.io has no public way. */
	private static FileDescriptor descriptor(int number) throws ReflectiveOperationException {
		FileDescriptor d = new FileDescriptor();
		Field field = FileDescriptor.class.getDeclaredField("fd");
		field.setAccessible(true);
		field.setInt(d, number);
		return d;
	}
}
