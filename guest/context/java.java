// SPDX-License-Identifier: MIT
// The driver of a Java context, behind the relay: requests on descriptor 3, events on 4. The JDK's own JShell evaluates
// the code, in this virtual machine.
//
// The `java` of a JDK compiles this file when it starts it; the file is removed then. The value of the last expression is
// the result. Those before it are not shown, since most statements of Java are calls with a value that is not meant.

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.ExpressionSnippet;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.UnresolvedReferenceException;
import jdk.jshell.VarSnippet;

class FumehoodContext {
  static final int EVENT_MAX = 24 << 20, ITEMS_MAX = 50000, COMPLETIONS_MAX = 500;
  static final String[] IMPORTS = {"java.io", "java.math", "java.net", "java.nio.file", "java.util", "java.util.concurrent",
      "java.util.function", "java.util.prefs", "java.util.regex", "java.util.stream"};
  // What code can call, by the names of other Java kernels; the driver's own side of it is found by this property.
  static final String LINK = "fumehood.display";
  static final String[] TOOLS = {
      "void display(Object value) { ((java.util.function.BiConsumer) System.getProperties().get(\"" + LINK + "\")).accept(value, null); }",
      "void display(Object value, String type) { ((java.util.function.BiConsumer) System.getProperties().get(\"" + LINK + "\")).accept(value, type); }"};
  // Types of values that are shown only as text.
  static final Set<String> SIMPLE = Set.of("boolean", "byte", "short", "int", "long", "float", "double", "char", "String", "Boolean", "Byte",
      "Short", "Integer", "Long", "Float", "Double", "Character");

  // Kinds of snippets whose value is shown; the value of a declaration is not.
  static final Set<Snippet.SubKind> VALUES = Set.of(Snippet.SubKind.TEMP_VAR_EXPRESSION_SUBKIND, Snippet.SubKind.VAR_VALUE_SUBKIND,
      Snippet.SubKind.ASSIGNMENT_SUBKIND, Snippet.SubKind.OTHER_EXPRESSION_SUBKIND);

  static OutputStream events;
  static JShell shell;
  static volatile boolean running, stopped;
  static volatile int runs; // the number of the run that is under way, or was the last
  static final int STOP_AGAIN_MS = 20;
  static volatile boolean early; // an interrupt came while nothing ran: late for the last run, or early for the next
  static Object taken; // the value that the snippet TAKE has passed to the driver
  static final String TAKE = "\u0000take";

  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0) new File(arguments[0]).delete();
    InputStream requests = new FileInputStream("/dev/fd/3");
    events = new FileOutputStream("/dev/fd/4");
    Map<?, ?> options = (Map<?, ?>) ((Map<?, ?>) new Json(new String(line(requests), StandardCharsets.UTF_8)).value()).get("options");
    setVariables(options.get("env"), new HashMap<>());
    System.getProperties().put(LINK, (BiConsumer<Object, String>) FumehoodContext::display);
    begin();
    catchInterrupts();
    say(object("type", "ready", "protocol", 1, "pid", ProcessHandle.current().pid(), "shell", "jshell", "version", System.getProperty("java.version")));
    for (byte[] line; (line = line(requests)) != null; ) answer((Map<?, ?>) new Json(new String(line, StandardCharsets.UTF_8)).value());
    Runtime.getRuntime().halt(0);
  }

  static void begin() {
    shell = JShell.builder().executionEngine("local").build();
    String path = System.getenv("CLASSPATH");
    if (path != null) for (String entry : path.split(":")) if (!entry.isEmpty()) shell.addToClasspath(entry);
    for (String name : IMPORTS) shell.eval("import " + name + ".*;");
    for (String tool : TOOLS) shell.eval(tool);
  }

  // SIGINT ends the code and not the virtual machine. JShell passes over a stop while it compiles what it is to run, so it
  // is told again until the run is over. The class has no other name; a mention of it would be warned of.
  static void catchInterrupts() throws Exception {
    Class<?> signal = Class.forName("sun.misc.Signal"), handler = Class.forName("sun.misc.SignalHandler");
    Object ours = Proxy.newProxyInstance(FumehoodContext.class.getClassLoader(), new Class<?>[] {handler}, (proxy, method, given) -> {
      int run = runs;
      if (running) stopped = true;
      else early = true;
      while (running && stopped && run == runs) {
        shell.stop();
        Thread.sleep(STOP_AGAIN_MS);
      }
      return null;
    });
    signal.getMethod("handle", signal, handler).invoke(null, signal.getConstructor(String.class).newInstance("INT"), ours);
  }

  // ---- requests

  static byte[] line(InputStream from) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (;;) {
      while (pieceAt < pieceEnd) {
        int start = pieceAt;
        while (pieceAt < pieceEnd && piece[pieceAt] != '\n') pieceAt++;
        line.write(piece, start, pieceAt - start);
        if (pieceAt < pieceEnd) {
          pieceAt++;
          return line.toByteArray();
        }
      }
      pieceAt = 0;
      pieceEnd = from.read(piece);
      if (pieceEnd <= 0) return null;
    }
  }
  static final byte[] piece = new byte[1 << 16];
  static int pieceAt, pieceEnd;

  static void answer(Map<?, ?> request) {
    Object id = request.get("id");
    String code = String.valueOf(request.get("code"));
    if ("complete".equals(request.get("op"))) {
      say(object("type", "end", "id", id, "status", "ok", "matches", completions(code)));
    } else if ("run".equals(request.get("op"))) {
      Map<String, String> before = new HashMap<>();
      setVariables(request.get("env"), before);
      stopped = false;
      runs++;
      running = true;
      boolean ok;
      try {
        boolean meant = early && !Boolean.TRUE.equals(request.get("late_interrupt"));
        ok = meant ? fail("KeyboardInterrupt", "", "interrupted") : run(code, request.get("count"), Boolean.TRUE.equals(request.get("silent")));
      } catch (RuntimeException | Error e) {
        ok = fail(stopped ? "KeyboardInterrupt" : e.getClass().getName(), stopped ? "" : e.getMessage(), stopped ? "interrupted" : e.toString());
      }
      running = early = false;
      setVariables(before, null);
      say(object("type", "end", "id", id, "status", ok ? "ok" : "error"));
    } else {
      say(object("type", "end", "id", id, "status", "refused"));
    }
  }

  static List<String> completions(String code) {
    int[] from = new int[1];
    Set<String> found = new LinkedHashSet<>();
    for (SourceCodeAnalysis.Suggestion s : shell.sourceCodeAnalysis().completionSuggestions(code, code.length(), from))
      if (found.size() < COMPLETIONS_MAX) found.add(s.continuation());
    return new ArrayList<>(found);
  }

  // Java has no way to change the environment; this changes the map behind System.getenv, which processes are started with.
  // Each is a property too, as in E2B's contexts; names with a dot are Java's own.
  @SuppressWarnings("unchecked")
  static void setVariables(Object given, Map<String, String> before) {
    if (!(given instanceof Map)) return;
    try {
      Field inner = System.getenv().getClass().getDeclaredField("m");
      inner.setAccessible(true);
      Map<String, String> variables = (Map<String, String>) inner.get(System.getenv());
      for (Map.Entry<?, ?> one : ((Map<?, ?>) given).entrySet()) {
        String name = (String) one.getKey();
        if (before != null) before.put(name, variables.get(name));
        if (one.getValue() == null) variables.remove(name);
        else variables.put(name, (String) one.getValue());
        if (name.indexOf('.') >= 0) continue;
        if (one.getValue() == null) System.clearProperty(name);
        else System.setProperty(name, (String) one.getValue());
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      System.err.println("the environment cannot be changed: " + e);
    }
  }

  // ---- runs

  static boolean run(String code, Object count, boolean silent) {
    SourceCodeAnalysis analysis = shell.sourceCodeAnalysis();
    String rest = code;
    while (!rest.isBlank()) {
      SourceCodeAnalysis.CompletionInfo info = analysis.analyzeCompletion(rest);
      if (info.completeness() == SourceCodeAnalysis.Completeness.EMPTY) break; // comments
      String source = info.source() == null ? rest : info.source();
      rest = info.source() == null ? "" : info.remaining();
      for (SnippetEvent event : shell.eval(source)) {
        if (stopped) return fail("KeyboardInterrupt", "", "interrupted");
        if (event.causeSnippet() != null) continue; // an earlier snippet, which this one has changed
        if (event.status() == Snippet.Status.REJECTED) return refuse(event.snippet(), source);
        if (event.exception() != null) return fail(event.exception());
        if (!silent && rest.isBlank()) show(event, count);
      }
    }
    return true;
  }

  static void show(SnippetEvent event, Object count) {
    Snippet snippet = event.snippet();
    if (!VALUES.contains(snippet.subKind()) || event.value() == null || event.value().isEmpty()) return;
    String type = snippet instanceof VarSnippet ? ((VarSnippet) snippet).typeName() : ((ExpressionSnippet) snippet).typeName();
    String name = snippet instanceof VarSnippet ? ((VarSnippet) snippet).name() : ((ExpressionSnippet) snippet).name();
    Map<String, Object> data = new LinkedHashMap<>();
    if (!SIMPLE.contains(type) && !event.value().equals("null")) {
      taken = null;
      shell.eval("display(" + name + ", \"\\u0000take\")");
      if (taken != null) data = forms(taken);
      taken = null;
    }
    data.put("text/plain", event.value());
    System.out.flush();
    say(object("type", "result", "count", count, "data", data, "metadata", Map.of()));
  }

  static boolean fail(String name, String value, String traceback) {
    System.out.flush();
    say(object("type", "error", "name", name, "value", value == null ? "" : value, "traceback", traceback));
    return false;
  }

  // What the compiler did not accept.
  static boolean refuse(Snippet snippet, String source) {
    StringBuilder all = new StringBuilder();
    String first = null;
    for (Diag d : (Iterable<Diag>) shell.diagnostics(snippet)::iterator) {
      if (!d.isError()) continue;
      int from = (int) Math.max(0, Math.min(d.getStartPosition(), source.length())), start = source.lastIndexOf('\n', from - 1) + 1;
      int end = source.indexOf('\n', from), length = (int) (d.getEndPosition() - d.getStartPosition());
      String line = source.substring(start, end < 0 ? source.length() : end), words = d.getMessage(Locale.ROOT).replace("\n  location: class ", "").stripTrailing();
      if (first == null) first = words.lines().findFirst().orElse("");
      all.append(words).append('\n').append(line).append('\n').append(" ".repeat(from - start))
          .append("^".repeat(Math.max(1, Math.min(length, line.length() - (from - start))))).append('\n');
    }
    return fail("CompileError", first == null ? "the code cannot be compiled" : first, all.toString().stripTrailing());
  }

  static boolean fail(JShellException exception) {
    if (exception instanceof UnresolvedReferenceException) {
      String name = ((UnresolvedReferenceException) exception).getSnippet().name();
      String words = name + " refers to what is not declared";
      return fail("UnresolvedReferenceException", words, words);
    }
    EvalException e = (EvalException) exception;
    return fail(e.getExceptionClassName(), e.getMessage(), trace(e, ""));
  }

  static String trace(EvalException e, String before) {
    StringBuilder all = new StringBuilder(before + e.getExceptionClassName());
    if (e.getMessage() != null) all.append(": ").append(e.getMessage());
    StackTraceElement[] frames = e.getStackTrace();
    int last = frames.length; // the outermost frames are JShell's and the driver's, and are left out
    while (last > 0 && (frames[last - 1].getFileName() == null || !frames[last - 1].getFileName().startsWith("#"))) last--;
    for (int i = 0; i < last; i++) {
      StackTraceElement f = frames[i];
      boolean own = f.getFileName() != null && f.getFileName().startsWith("#");
      String method = f.getMethodName().startsWith("do_it$") ? "" : f.getMethodName();
      all.append("\n\tat ").append(own ? method : f.getClassName() + "." + method).append(" (").append(f.getFileName()).append(":")
          .append(f.getLineNumber()).append(")");
    }
    if (e.getCause() instanceof EvalException) all.append("\n").append(trace((EvalException) e.getCause(), "Caused by: "));
    return all.toString();
  }

  // ---- values

  static void display(Object value, String type) {
    if (TAKE.equals(type)) {
      taken = value;
      return;
    }
    Map<String, Object> data = type == null ? forms(value) : new LinkedHashMap<>();
    if (type == null) data.putIfAbsent("text/plain", String.valueOf(value));
    else if (value instanceof byte[]) data.put(type, Base64.getEncoder().encodeToString((byte[]) value));
    else data.put(type, type.equals("application/json") && value instanceof String ? json((String) value) : type.equals("application/json") ? plain(value) :
        String.valueOf(value));
    System.out.flush();
    say(object("type", "display", "data", data, "metadata", Map.of()));
  }

  static Object json(String text) {
    try {
      return new Json(text).whole();
    } catch (RuntimeException e) {
      return text;
    }
  }

  static Object plain(Object value) {
    try {
      return plain(value, new int[] {ITEMS_MAX}, 0);
    } catch (IllegalArgumentException e) {
      return String.valueOf(value);
    }
  }

  // The forms of a value beside its text: JSON of maps, collections and arrays, PNG of pictures.
  static Map<String, Object> forms(Object value) {
    Map<String, Object> data = new LinkedHashMap<>();
    if (value instanceof Map || value instanceof Collection || value != null && value.getClass().isArray()) {
      try {
        data.put("application/json", plain(value, new int[] {ITEMS_MAX}, 0));
      } catch (IllegalArgumentException e) {
        // not representable in JSON
      }
    }
    String png = picture(value);
    if (png != null) data.put("image/png", png);
    return data;
  }

  // PNG in base64; null: the value is no picture. By reflection, since a JDK may have no java.desktop.
  static String picture(Object value) {
    try {
      Class<?> image = Class.forName("java.awt.image.RenderedImage");
      if (!image.isInstance(value)) return null;
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      Class.forName("javax.imageio.ImageIO").getMethod("write", image, String.class, OutputStream.class).invoke(null, value, "png", bytes);
      return Base64.getEncoder().encodeToString(bytes.toByteArray());
    } catch (ReflectiveOperationException | LinkageError e) {
      return null;
    }
  }

  static Object plain(Object value, int[] left, int depth) {
    if (--left[0] < 0 || depth > 60) throw new IllegalArgumentException("too much");
    if (value == null || value instanceof Boolean || value instanceof String || value instanceof Number) return value;
    if (value instanceof Character) return value.toString();
    List<Object> list = new ArrayList<>();
    if (value instanceof Map) {
      Map<String, Object> map = new LinkedHashMap<>();
      for (Map.Entry<?, ?> e : ((Map<?, ?>) value).entrySet()) map.put(String.valueOf(e.getKey()), plain(e.getValue(), left, depth + 1));
      return map;
    }
    if (value instanceof Collection) {
      for (Object o : (Collection<?>) value) list.add(plain(o, left, depth + 1));
    } else if (value.getClass().isArray()) {
      if (Array.getLength(value) > left[0]) throw new IllegalArgumentException("too much");
      for (int i = 0; i < Array.getLength(value); i++) list.add(plain(Array.get(value, i), left, depth + 1));
    } else {
      throw new IllegalArgumentException("no plain value");
    }
    return list;
  }

  // ---- events

  static Map<String, Object> object(Object... members) {
    Map<String, Object> o = new LinkedHashMap<>();
    for (int i = 0; i < members.length; i += 2) o.put((String) members[i], members[i + 1]);
    return o;
  }

  static synchronized void say(Map<String, Object> event) {
    byte[] line = bytes(event);
    if (line.length > EVENT_MAX && event.get("data") instanceof Map) {
      Map<String, Object> data = new LinkedHashMap<>(), omitted = new LinkedHashMap<>();
      for (Map.Entry<?, ?> form : ((Map<?, ?>) event.get("data")).entrySet()) {
        int size = bytes(form.getValue()).length;
        (size >= EVENT_MAX / 16 ? omitted : data).put((String) form.getKey(), size >= EVENT_MAX / 16 ? size : form.getValue());
      }
      event.put("data", data);
      event.put("omitted", omitted);
      line = bytes(event);
    }
    try {
      events.write(line);
    } catch (IOException e) {
      Runtime.getRuntime().halt(1);
    }
  }

  static byte[] bytes(Object value) {
    StringBuilder out = new StringBuilder();
    Json.write(out, value);
    return out.append('\n').toString().getBytes(StandardCharsets.UTF_8);
  }

  // ---- JSON

  static class Json {
    final String text;
    int at;

    Json(String text) {
      this.text = text;
    }

    Object whole() {
      Object value = value();
      if (next() != 0) throw new IllegalArgumentException("JSON goes on");
      return value;
    }

    char next() {
      while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
      return at < text.length() ? text.charAt(at) : 0;
    }

    boolean take(char c) {
      if (next() != c) return false;
      at++;
      return true;
    }

    Object value() {
      char c = next();
      if (take('{')) {
        Map<String, Object> object = new LinkedHashMap<>();
        if (take('}')) return object;
        do {
          next();
          String name = string();
          if (!take(':')) throw new IllegalArgumentException("JSON");
          object.put(name, value());
        } while (take(','));
        if (!take('}')) throw new IllegalArgumentException("JSON");
        return object;
      }
      if (take('[')) {
        List<Object> list = new ArrayList<>();
        if (take(']')) return list;
        do list.add(value());
        while (take(','));
        if (!take(']')) throw new IllegalArgumentException("JSON");
        return list;
      }
      if (c == '"') return string();
      int from = at;
      while (at < text.length() && "+-.eE0123456789truefalsn".indexOf(text.charAt(at)) >= 0) at++;
      String word = text.substring(from, at);
      if (word.equals("true") || word.equals("false")) return word.equals("true");
      if (word.equals("null")) return null;
      return word.matches("-?\\d{1,18}") ? (Number) Long.valueOf(word) : (Number) Double.valueOf(word);
    }

    String string() {
      StringBuilder out = new StringBuilder();
      if (text.charAt(at++) != '"') throw new IllegalArgumentException("JSON");
      for (char c; (c = text.charAt(at++)) != '"'; ) {
        if (c != '\\') {
          out.append(c);
          continue;
        }
        c = text.charAt(at++);
        int known = "bfnrt".indexOf(c);
        if (c == 'u') {
          out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
          at += 4;
        } else {
          out.append(known < 0 ? c : "\b\f\n\r\t".charAt(known));
        }
      }
      return out.toString();
    }

    static void write(StringBuilder out, Object value) {
      if (value instanceof Map) {
        String before = "{";
        for (Map.Entry<?, ?> e : ((Map<?, ?>) value).entrySet()) {
          out.append(before);
          write(out, String.valueOf(e.getKey()));
          out.append(':');
          write(out, e.getValue());
          before = ",";
        }
        out.append(before.equals("{") ? "{}" : "}");
      } else if (value instanceof List) {
        String before = "[";
        for (Object item : (List<?>) value) {
          out.append(before);
          write(out, item);
          before = ",";
        }
        out.append(before.equals("[") ? "[]" : "]");
      } else if (value == null || value instanceof Boolean || value instanceof Number && Double.isFinite(((Number) value).doubleValue())) {
        out.append(value);
      } else if (value instanceof Number) {
        out.append("null");
      } else {
        out.append('"');
        for (char c : value.toString().toCharArray()) {
          if (c == '"' || c == '\\') out.append('\\').append(c);
          else if (c == '\n') out.append("\\n");
          else if (c < 0x20 || c == 0x7F) out.append(String.format("\\u%04x", (int) c));
          else out.append(c);
        }
        out.append('"');
      }
    }
  }
}
