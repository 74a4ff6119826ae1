# SPDX-License-Identifier: MIT
# Runs a program whose last lines are its test, in this process, and reports how the test ended.
#
# stdin:  16 bytes "%015d\n", the length of the program; the program, UTF-8; then the secret of this run, 32 bytes.
# stdout: what the program prints, and once "\n" secret " passed 0\n", or " failed N\n" / " exited N\n" and N bytes of
#         reason.
#
# The secret stays unread in the pipe until the test has ended, so that no frame or object contains it while the program
# runs; stdin is moved to another descriptor before. Everything used afterwards is bound as a default argument here, so a
# program that replaces builtins or modules changes nothing. Only modules built into the interpreter are imported, because
# each run pays for what is loaded here.
import builtins
import sys
import posix
import _io

# Normally defined by Python's site module, without which the interpreter is started.
builtins.exit = builtins.quit = sys.exit


def main(read=posix.read, write=posix.write, leave=posix._exit, length=len, text=str, kind=type, error=BaseException,
         early=SystemExit, compiler=compile, run=exec, flush_out=sys.stdout.flush, flush_err=sys.stderr.flush):
	source, answer = 900, 901

	def take(fd, n):
		data = b""
		while length(data) < n:
			piece = read(fd, n - length(data))
			if not piece:
				leave(3)
			data += piece
		return data

	def say(verdict, reason):
		message = b"\n%s %s %d\n%s" % (take(source, 32), verdict, length(reason), reason)
		while message:
			message = message[write(answer, message):]
		try:
			flush_out()
			flush_err()
		except error:
			pass  # the program closed them
		leave(0)

	def explain(e, lines):
		reason = kind(e).__name__ + ": " + text(e)
		frame, line = e.__traceback__, 0
		while frame:
			if frame.tb_frame.f_code.co_filename == "<string>":
				line = frame.tb_lineno
			frame = frame.tb_next
		if 0 < line <= length(lines):
			reason = "%.700s [line %d: %.240s]" % (reason, line, lines[line - 1].strip())
		return reason.encode("utf-8", "backslashreplace")[:1000]

	posix.dup2(0, source, False)
	posix.dup2(1, answer, False)
	null = posix.open("/dev/null", posix.O_RDONLY)
	posix.dup2(null, 0)
	posix.close(null)
	sys.stdin = _io.open(0, encoding="utf-8", closefd=False)
	program = take(source, int(take(source, 16))).decode("utf-8")
	sys.modules["solution"] = module = kind(sys)("solution")  # pickle and typing look for a class's module there
	try:
		run(compiler(program, "<string>", "exec", 0, True), module.__dict__)
	except early as e:
		try:
			reason = explain(e, program.split("\n"))
		except error:
			reason = b"SystemExit"
		say(b"exited", reason)
	except error as e:
		try:
			reason = explain(e, program.split("\n"))
		except error:
			reason = b"an exception that cannot be shown"
		say(b"failed", reason)
	say(b"passed", b"")


main()
