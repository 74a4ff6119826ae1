# SPDX-License-Identifier: MIT
# The driver of an R context, behind the relay. It needs R's own packages only. `requests` (descriptor 3) and `options_text`
# come from the lines that start it (context_language.c).
#
# All top-level expressions of the code are evaluated in the global environment. The visible value of the last one is the
# result, those before it are displayed. Plots are drawn into files and displayed when the code has ended.
events <- file("/dev/fd/4", "wb", raw = TRUE)
TYPES <- c(text = "text/plain", html = "text/html", markdown = "text/markdown", svg = "image/svg+xml", png = "image/png",
           jpeg = "image/jpeg", pdf = "application/pdf", latex = "text/latex", json = "application/json",
           javascript = "application/javascript")
EVENT_MAX <- 24 * 2^20
CELLS_MAX <- 200000
ITEMS_MAX <- 50000
WARNINGS_MAX <- 50
now <- new.env()

# ---- JSON

escapes <- c("\\b" = "\b", "\\f" = "\f", "\\n" = "\n", "\\r" = "\r", "\\t" = "\t", "\\\\" = "\\", "\\\"" = "\"", "\\/" = "/")

character_of <- function(found) {
  if (found %in% names(escapes)) return(escapes[[found]])
  units <- strtoi(substring(found, c(3, 9), c(6, 12)), 16L)
  if (!is.na(units[2])) return(intToUtf8((units[1] - 0xD800L) * 0x400L + units[2] - 0xDC00L + 0x10000L))
  if (units[1] == 0L || units[1] %/% 0x800L == 0x1BL) "\uFFFD" else intToUtf8(units[1])
}

# The text that a JSON string without its quotes stands for.
text_of <- function(raw) {
  if (!grepl("\\", raw, fixed = TRUE)) return(raw)
  places <- gregexpr("\\\\u[dD][89aAbB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\\\u[0-9a-fA-F]{4}|\\\\.", raw, perl = TRUE)
  found <- regmatches(raw, places)[[1]]
  known <- unique(found)
  regmatches(raw, places) <- list(vapply(known, character_of, "")[match(found, known)])
  raw
}

quoted <- function(x) {
  x <- enc2utf8(as.character(x))
  x <- ifelse(validUTF8(x), x, iconv(x, "UTF-8", "UTF-8", sub = "\uFFFD"))
  x <- gsub("\"", "\\\"", gsub("\\", "\\\\", x, fixed = TRUE), fixed = TRUE)
  x <- gsub("\t", "\\t", gsub("\r", "\\r", gsub("\n", "\\n", x, fixed = TRUE), fixed = TRUE), fixed = TRUE)
  for (code in c(1:31, 127)) {
    sign <- intToUtf8(code)
    if (any(grepl(sign, x, fixed = TRUE))) x <- gsub(sign, sprintf("\\u%04x", code), x, fixed = TRUE)
  }
  paste0("\"", x, "\"")
}

joined <- function(parts) paste0("[", paste(parts, collapse = ","), "]")
object_of <- function(names, values) paste0("{", paste0(quoted(names), ":", values, collapse = ","), "}")

# The elements of a vector, each as JSON; NA is null.
elements <- function(x) {
  if (inherits(x, "POSIXt")) x <- format(x, "%Y-%m-%dT%H:%M:%S")
  else if (inherits(x, "Date")) x <- format(x, "%Y-%m-%d")
  else if (is.factor(x) || !is.numeric(x) && !is.logical(x)) x <- as.character(x)
  if (is.logical(x)) return(ifelse(is.na(x), "null", ifelse(x, "true", "false")))
  if (is.character(x)) return(ifelse(is.na(x), "null", quoted(x)))
  x <- as.numeric(x)
  short <- formatC(x, digits = 15, format = "g", width = 1)
  exact <- ifelse(is.finite(x) & suppressWarnings(as.numeric(short)) != x, formatC(x, digits = 17, format = "g", width = 1), short)
  ifelse(is.finite(x), trimws(exact), "null")
}

# A list as JSON; an element that is none of list, vector and NULL is an error.
plain <- function(x, depth = 0) {
  now$items <- now$items - length(x)
  if (now$items < 0 || depth > 60) stop("too much")
  if (is.null(x)) return("null")
  if (is.object(x) && !inherits(x, c("factor", "Date", "POSIXct"))) stop("no plain value")
  if (!is.list(x) && (!is.atomic(x) || is.complex(x) || is.raw(x))) stop("no plain value")
  parts <- if (is.list(x)) vapply(x, plain, "", depth + 1) else elements(x)
  if (!is.null(names(x)) && all(nzchar(names(x)))) object_of(names(x), parts)
  else if (is.list(x) || length(parts) != 1) joined(parts) else parts
}

base64 <- function(bytes) {
  signs <- c(LETTERS, letters, 0:9, "+", "/")
  n <- length(bytes)
  b <- matrix(as.integer(c(bytes, raw((3 - n %% 3) %% 3))), 3)
  out <- rbind(b[1, ] %/% 4L, b[1, ] %% 4L * 16L + b[2, ] %/% 16L, b[2, ] %% 16L * 4L + b[3, ] %/% 64L, b[3, ] %% 64L)
  out <- signs[out + 1L]
  if (n %% 3) out[length(out) + seq(n %% 3 - 2, 0)] <- "="
  paste(out, collapse = "")
}

# ---- events

say <- function(line) {
  flush(stdout())
  suspendInterrupts({ # an interrupt must not cut off the line of an event
    writeBin(charToRaw(paste0(enc2utf8(line), "\n")), events)
    flush(events)
  })
}

# forms: JSON texts by MIME type
say_forms <- function(type, forms, more = "") {
  sizes <- nchar(unlist(forms), "bytes")
  omitted <- if (sum(sizes) > EVENT_MAX) sizes >= EVENT_MAX / 16 else logical(length(forms))
  if (any(omitted)) more <- paste0(more, ",\"omitted\":", object_of(names(forms)[omitted], sizes[omitted]))
  say(paste0("{\"type\":\"", type, "\",\"data\":", if (all(omitted)) "{}" else object_of(names(forms)[!omitted], unlist(forms)[!omitted]),
             ",\"metadata\":{}", more, "}"))
}

say_error <- function(name, value, traceback)
  say(paste0("{\"type\":\"error\",\"name\":", quoted(name), ",\"value\":", quoted(value), ",\"traceback\":", quoted(traceback), "}"))

# ---- values

markup <- function(x) gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", x, fixed = TRUE), fixed = TRUE), fixed = TRUE)

table_of <- function(x) {
  rows <- if (nrow(x) > 60) c(1:30, nrow(x) - 29:0) else seq_len(nrow(x))
  columns <- if (ncol(x) > 20) c(1:10, ncol(x) - 9:0) else seq_len(ncol(x))
  shown <- as.matrix(format(as.data.frame(x, stringsAsFactors = FALSE)[rows, columns, drop = FALSE]))
  names <- if (is.null(rownames(x))) rows else rownames(x)[rows]
  head <- paste0("<th>", markup(c("", colnames(shown))), "</th>", collapse = "")
  cells <- function(i) paste0("<td>", markup(trimws(shown[i, ])), "</td>", collapse = "")
  body <- vapply(seq_along(rows), function(i) paste0("<tr><th>", markup(names[i]), "</th>", cells(i), "</tr>"), "")
  if (nrow(x) > 60) body <- append(body, paste0("<tr><th>\u22ee</th>", strrep("<td>\u22ee</td>", length(columns)), "</tr>"), 30)
  paste0("<table>\n<thead><tr>", head, "</tr></thead>\n<tbody>\n", paste(body, collapse = "\n"), "\n</tbody>\n</table>")
}

# The forms of a value by MIME type, as JSON texts.
forms_of <- function(x) {
  if (inherits(x, "fumehood_forms")) return(unclass(x))
  text <- paste(utils::capture.output(if (isS4(x)) methods::show(x) else print(x)), collapse = "\n")
  forms <- if (nzchar(text)) list("text/plain" = quoted(text)) else list()
  more <- function(mime, make) tryCatch(forms[[mime]] <<- make(), error = function(e) NULL)
  if (is.data.frame(x) || is.matrix(x) && is.atomic(x)) more("text/html", function() quoted(table_of(x)))
  if (is.data.frame(x) && length(x) && all(vapply(x, is.atomic, NA)) && nrow(x) * length(x) <= CELLS_MAX)
    more("application/vnd.fumehood.data+json", function() object_of(names(x), vapply(x, function(column) joined(elements(column)), "")))
  now$items <- ITEMS_MAX
  if (is.list(x) && !is.object(x)) more("application/json", function() plain(x))
  forms
}

form <- function(name, data, file) {
  if (!is.null(file)) data <- readBin(file, "raw", file.size(file))
  now$items <- ITEMS_MAX
  value <- if (is.raw(data)) quoted(if (name %in% c("png", "jpeg", "pdf")) base64(data) else rawToChar(data))
  else if (name == "json" && !is.character(data)) plain(data) else if (name == "json") paste(data, collapse = "\n")
  else quoted(paste(data, collapse = "\n"))
  structure(stats::setNames(list(value), TYPES[[name]]), class = "fumehood_forms")
}

# What code finds on its search path, by the names of the package IRdisplay.
tools <- attach(NULL, name = "tools:fumehood", warn.conflicts = FALSE)
tools$display <- function(value) {
  forms <- forms_of(value)
  if (length(forms)) say_forms("display", forms)
  invisible()
}
for (name in names(TYPES)) local({
  name <- name
  tools[[paste0("display_", name)]] <- function(data = NULL, file = NULL) tools$display(form(name, data, file))
})
tools$clear_output <- function(wait = FALSE) say(paste0("{\"type\":\"clear\",\"wait\":", if (isTRUE(wait)) "true" else "false", "}"))
lockEnvironment(tools, bindings = TRUE)

# ---- plots

now$folder <- tempfile("plots")
now$device <- NULL
dir.create(now$folder)
options(device = function(...) {
  size <- function(name, otherwise) { set <- getOption(name); if (is.numeric(set)) set else otherwise }
  width <- size("repr.plot.width", 7)
  height <- size("repr.plot.height", 7)
  now$opened <- now$opened + 1
  path <- file.path(now$folder, sprintf("%03d-%%03d", now$opened))
  if (capabilities("cairo")) grDevices::png(paste0(path, ".png"), width, height, "in", res = size("repr.plot.res", 120), type = "cairo")
  else grDevices::pdf(paste0(path, ".pdf"), width, height, onefile = FALSE)
  now$device <- c(now$device, grDevices::dev.cur())
})

show_plots <- function() {
  for (device in now$device) if (device %in% grDevices::dev.list()) grDevices::dev.off(device)
  now$device <- NULL
  for (path in list.files(now$folder, full.names = TRUE)) {
    name <- if (endsWith(path, ".png")) "png" else "pdf"
    forms <- c(list("text/plain" = quoted("plot without title")), unclass(form(name, NULL, path)))
    unlink(path)
    say_forms("display", forms)
  }
}

# ---- runs

words <- function(call) {
  lines <- deparse(call, width.cutoff = 500L, nlines = 2L)
  if (length(lines) > 1) paste(lines[1], "...") else lines
}

# The call of a condition; NULL: there is none but the driver's own.
call_of <- function(condition) {
  call <- conditionCall(condition)
  if (!identical(call, quote(eval(one, globalenv())))) call
}

show_warnings <- function() {
  if (!length(now$warnings)) return(invisible())
  all <- structure(lapply(now$warnings, call_of), names = vapply(now$warnings, conditionMessage, ""), class = "warnings")
  now$warnings <- list()
  writeLines(utils::capture.output(print(all)), stderr())
}

on_warning <- function(w) {
  level <- getOption("warn")
  if (level > 0) return()
  if (level == 0 && length(now$warnings) < WARNINGS_MAX) now$warnings <- c(now$warnings, list(w))
  invokeRestart("muffleWarning")
}

# Keeps the calls that led to an error: those above the driver's own evaluation and below the handler.
on_error <- function(e) {
  calls <- sys.calls()
  ours <- which(vapply(calls, identical, NA, quote(eval(one, globalenv()))))
  last <- length(calls) - if (any(vapply(calls, function(call) identical(call[[1]], quote(.handleSimpleError)), NA))) 2 else 1
  converted <- which(vapply(calls, function(call) identical(call[[1]], quote(.signalSimpleWarning)), NA))
  last <- min(last, converted - 1)
  now$calls <- if (length(ours) && max(ours) < last) calls[(max(ours) + 1):last]
}

fail <- function(e) {
  call <- call_of(e)
  value <- conditionMessage(e)
  said <- paste0("Error", if (!is.null(call)) paste0(" in ", words(call)), ": ", value)
  calls <- vapply(now$calls, words, "")
  if (length(calls)) said <- paste0(said, "\nTraceback:\n", paste0(seq_along(calls), ". ", calls, collapse = "\n"))
  say_error(class(e)[1], value, said)
}

evaluate <- function(request, cell) {
  for (i in seq_along(cell)) {
    one <- cell[i]
    value <- withCallingHandlers(withVisible(eval(one, globalenv())), warning = on_warning, error = on_error)
    forms <- if (value$visible && !request$silent) withCallingHandlers(forms_of(value$value), warning = on_warning)
    show_warnings()
    if (!length(forms)) next
    if (i == length(cell)) {
      show_plots()
      say_forms("result", forms, paste0(",\"count\":", request$count))
    } else {
      say_forms("display", forms)
    }
  }
}

run <- function(request) {
  now$warnings <- list()
  now$calls <- NULL
  now$opened <- 0
  ok <- FALSE
  early <- now$early && !request$late
  now$early <- FALSE
  if (early) {
    say_error("KeyboardInterrupt", "", "interrupted")
    return(FALSE)
  }
  tryCatch({
    cell <- tryCatch(parse(text = request$code, keep.source = TRUE, encoding = "UTF-8",
                           srcfile = srcfilecopy(sprintf("Cell[%s]", request$count), strsplit(request$code, "\n", fixed = TRUE)[[1]])),
                     error = function(e) e)
    if (inherits(cell, "error")) {
      say_error("parseError", conditionMessage(cell), paste("Error:", conditionMessage(cell)))
    } else {
      allowInterrupts(evaluate(request, cell))
      ok <- TRUE
    }
  }, error = fail, interrupt = function(i) say_error("KeyboardInterrupt", "", "interrupted"))
  tryCatch({
    show_warnings()
    show_plots()
  }, error = fail)
  ok
}

with_variables <- function(env, f) {
  before <- Sys.getenv(names(env), NA, names = TRUE)
  if (length(env)) do.call(Sys.setenv, as.list(env))
  on.exit({
    if (any(is.na(before))) Sys.unsetenv(names(before)[is.na(before)])
    if (any(!is.na(before))) do.call(Sys.setenv, as.list(before[!is.na(before)]))
  })
  f()
}

complete <- function(code) {
  hidden <- asNamespace("utils")
  hidden$.assignLinebuffer(code)
  hidden$.assignEnd(nchar(code))
  hidden$.guessTokenFromLine()
  hidden$.completeToken()
  utils::head(hidden$.retrieveCompletions(), 500)
}

# ---- requests

pieces <- list() # what was read since the last line; all but the last piece contain no end of line
next_line <- function() {
  repeat {
    end <- if (length(pieces)) which(pieces[[length(pieces)]] == as.raw(10L))
    if (length(end)) {
      last <- pieces[[length(pieces)]]
      line <- c(unlist(pieces[-length(pieces)]), last[seq_len(end[1] - 1)])
      pieces <<- list(last[-seq_len(end[1])])
      return(`Encoding<-`(rawToChar(line), "UTF-8"))
    }
    suspendInterrupts({
      piece <- readBin(requests, "raw", 65536L)
      pieces[[length(pieces) + 1]] <<- piece
    })
    if (!length(piece)) quit("no")
  }
}

variables <- function(json) {
  places <- gregexpr("\"(?:[^\"\\\\]|\\\\.)*+\"", json, perl = TRUE)
  texts <- vapply(regmatches(json, places)[[1]], function(text) text_of(substr(text, 2, nchar(text) - 1)), "", USE.NAMES = FALSE)
  even <- seq_along(texts) %% 2 == 0
  stats::setNames(texts[even], texts[!even])
}

number <- function(head, name) sub(sprintf(".*?\"%s\":(-?[0-9]+).*", name), "\\1", head, perl = TRUE)

answer <- function(line) {
  at <- regexpr(",\"code\":\"", line, fixed = TRUE)
  head <- substr(line, 1, at)
  env <- regexpr(",\"env\":{", head, fixed = TRUE)
  request <- list(id = number(head, "id"), count = number(head, "count"), silent = grepl("\"silent\":true", head, fixed = TRUE),
                  late = grepl("\"late_interrupt\":true", head, fixed = TRUE),
                  code = text_of(substr(line, at + 9, nchar(line) - 2)))
  if (startsWith(head, "{\"op\":\"complete\"")) {
    found <- tryCatch(complete(request$code), error = function(e) character())
    matches <- joined(quoted(found)[seq_along(found)])
    return(say(paste0("{\"type\":\"end\",\"id\":", request$id, ",\"status\":\"ok\",\"matches\":", matches, "}")))
  }
  if (!startsWith(head, "{\"op\":\"run\"")) return(say(paste0("{\"type\":\"end\",\"id\":", request$id, ",\"status\":\"refused\"}")))
  ok <- with_variables(if (env > 0) variables(substring(head, env + 7)) else character(), function() run(request))
  say(paste0("{\"type\":\"end\",\"id\":", request$id, ",\"status\":\"", if (ok) "ok" else "error", "\"}"))
}

if (!isTRUE(l10n_info()[["UTF-8"]])) invisible(Sys.setlocale("LC_CTYPE", "C.UTF-8"))
given <- regmatches(options_text, regexpr("\"env\":\\{(?:\"(?:[^\"\\\\]|\\\\.)*+\"[:,]?)*+\\}", options_text, perl = TRUE))
if (length(given) && nchar(given) > 8) do.call(Sys.setenv, as.list(variables(substring(given, 7))))
say(sprintf("{\"type\":\"ready\",\"protocol\":1,\"pid\":%d,\"shell\":\"r\",\"version\":\"%s\"}", Sys.getpid(), getRversion()))
now$early <- FALSE
# Interrupts are held back but where the code runs and where the next request is waited for.
suspendInterrupts(repeat {
  # An interrupt that comes here was meant for the run that has ended, or for the next: `run` knows which.
  line <- tryCatch(allowInterrupts(next_line()), interrupt = function(i) NULL)
  now$early <- now$early || is.null(line)
  if (!is.null(line)) answer(line)
})
