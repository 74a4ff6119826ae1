// SPDX-License-Identifier: MIT
/** Text as UTF-8, or bytes. */
export type Data = string | Uint8Array;
/** Bytes, or text such as "64M" (powers of 1024). */
export type Size = number | string;
export type Status = "ok" | "runtime_error" | "compile_error" | "cpu_time_limit" | "wall_time_limit" | "memory_limit" | "output_limit" | "disk_limit"
	| "process_limit" | "blocked" | "engine_error";
export type LimitName = "cpu_time" | "wall_time" | "memory" | "processes" | "cpu_rate" | "output" | "file_size" | "disk" | "open_files";
export type Mount = string | [source: string] | [source: string, target: string] | [source: string, target: string, mode: "ro" | "rw"];
export type OnOutput = (stream: "stdout" | "stderr", data: Buffer) => void;

/** Times in seconds; null switches a limit off. */
export interface Limits {
	cpu_time?: number | null;
	wall_time?: number | null;
	memory?: Size | null;
	processes?: number | null;
	cpu_rate?: number | null;
	output?: Size | null;
	file_size?: Size | null;
	disk?: Size | null;
	open_files?: number | null;
}

export interface PlanOptions extends Limits {
	/** A command that is there inside, instead of code. */
	argv?: string[];
	/** Follow the program's name. */
	args?: string[];
	/** The whole standard input. */
	stdin?: Data;
	/** Names in the working directory with their content, or with [content, mode]. */
	files?: Record<string, Data | [Data, number]>;
	/** Regular files to bring back. */
	outs?: string[];
	out_max_bytes?: number;
	env?: Record<string, string>;
	/** Host paths to show inside, read-only unless "rw" is said. */
	mounts?: Mount[];
	interpreter?: string;
	venv?: string;
	image?: string;
	user?: "user" | "root";
	cwd?: string;
	hostname?: string;
	standard_library_only?: boolean;
	compiler_flags?: string[];
	/** Layers of isolation that must hold. */
	require?: string[];
	start?: "auto" | "fresh" | "zygote" | "parked";
	/** Modules that a warm interpreter imports ahead of the request. */
	preload?: string[];
	/** The program may write to / itself; that is forgotten at the end. */
	writable_root?: boolean;
	/** For Sandbox.create with a plan: the language's tools, and no program's file. Without code and argv. */
	no_program?: boolean;
}

export interface RunOptions {
	client?: Client;
	/** Called with bytes as they come; what it throws ends the run, and is thrown. */
	on_output?: OnOutput;
	/** Cancels the run: CancelledError. */
	signal?: AbortSignal;
}

export interface Usage {
	cpu_ms: number;
	cpu_user_ms: number;
	cpu_sys_ms: number;
	wall_ms: number;
	memory_peak_bytes: number;
	processes_peak: number;
	memory_baseline_bytes: number;
}

export interface OutFile {
	data: Buffer | null;
	size: number | null;
	refused: string | null;
}

export class Result {
	readonly status: Status;
	/** null: a signal ended it. */
	readonly exit_code: number | null;
	/** By name: "SIGSEGV". */
	readonly signal: string | null;
	readonly stdout: Buffer;
	readonly stderr: Buffer;
	readonly stdout_truncated: boolean;
	readonly stderr_truncated: boolean;
	readonly usage: Usage;
	/** Of each layer true, or why not. */
	readonly isolation: Record<string, true | string>;
	readonly limits: Record<LimitName, { value: number | null; unit: string; enforced: "exact" | "bounded" | "none" }>;
	readonly fired: LimitName[];
	readonly files: Record<string, OutFile>;
	readonly start: { path: "fresh" | "zygote" | "parked" | null; why?: string };
	/** What it ran in. The identity differs when the image, the interpreter or what else the plan shows was replaced. */
	readonly image: { kind: "host" | "directory"; path: string | null; identity: string | null };
	readonly ok: boolean;
	/** stdout as text. */
	readonly text: string;
}

export class Plan {
	static from_json(text: string): Plan;
	/** As `fumehood run --explain` prints it. */
	json(): string;
}

export function plan(code: Data | undefined | null, language?: string, options?: PlanOptions): Promise<Plan>;
export function plan(code: Data | undefined | null, options: PlanOptions): Promise<Plan>;
/** Runs a program in a fresh sandbox; python when no language is said. What it does is in the result, never an exception. */
export function run(code: Data | undefined | null, language?: string, options?: PlanOptions & RunOptions): Promise<Result>;
export function run(code: Data | undefined | null, options: PlanOptions & RunOptions): Promise<Result>;
export function run_plan(plan: Plan, options?: RunOptions): Promise<Result>;

/** A connection to an engine of its own; any number of calls may be under way at once. */
export class Client {
	constructor();
	readonly usable: boolean;
	/** Ends the engine and every sandbox of this client. */
	close(): void;
}
export function default_client(): Client;

export class Exit {
	readonly status: Status;
	readonly exit_code: number | null;
	readonly signal: number | null;
	readonly fired: LimitName[];
	readonly usage: Usage;
	readonly ok: boolean;
}

export class Output extends Exit {
	readonly exit: Exit;
	readonly stdout: Buffer;
	readonly stderr: Buffer;
	readonly text: string;
}

export class Process implements AsyncIterable<Buffer> {
	readonly id: string;
	/** Its number inside. */
	readonly pid: number;
	/** Bytes of stdout as soon as there are some; an empty buffer at its end. */
	read(n?: number): Promise<Buffer>;
	read_stderr(n?: number): Promise<Buffer>;
	[Symbol.asyncIterator](): AsyncIterator<Buffer>;
	/** Waits while the program does not read. */
	write(data: Data): Promise<void>;
	close_stdin(): void;
	/** To its process group. */
	signal(number: number): Promise<void>;
	kill(): Promise<void>;
	kill_tree(): Promise<void>;
	resize(rows: number, columns: number): Promise<void>;
	/** timeout in seconds: TimeoutError when it still runs. */
	wait(timeout?: number | null, signal?: AbortSignal): Promise<Exit>;
	communicate(stdin?: Data | null, options?: { timeout?: number; signal?: AbortSignal; on_output?: OnOutput }): Promise<Output>;
}

export interface SpawnOptions {
	/** In the place of the sandbox's environment; more_env stands beside it. */
	env?: Record<string, string>;
	more_env?: Record<string, string>;
	cwd?: string;
	pty?: boolean;
	rows?: number;
	columns?: number;
	stdin?: boolean;
	cpu_time?: number | null;
	wall_time?: number | null;
	output?: Size | null;
	memory?: Size | null;
	user?: "user" | "root";
	tag?: string;
	drop_unread?: boolean;
}

export interface ExecOptions extends Omit<SpawnOptions, "stdin"> {
	input?: Data | null;
	/** Seconds, after which its process group is killed: TimeoutError. */
	timeout?: number;
	signal?: AbortSignal;
	on_output?: OnOutput;
}

export interface ProcessInfo {
	id: string;
	pid: number;
	uid: number;
	age: number;
	tag: string;
	command: string;
	exit: Exit | null;
}

export interface SandboxUsage {
	/** Seconds since 1970. */
	at: number;
	age: number;
	cpu_user_ms: number;
	cpu_sys_ms: number;
	memory: number;
	memory_peak: number;
	memory_limit: number | null;
	tasks: number;
	/** Bytes in the writable folders; 0 where it is not known, as of a sandbox that is paused. */
	disk: number;
	disk_limit: number | null;
	cpus: number;
	paused: boolean;
}

export interface SandboxOptions extends PlanOptions {
	/** Seconds that it lives on without this process. */
	lease?: number;
	name?: string;
	client?: Client;
	plan?: Plan;
}

/** A sandbox that lives on; made by `await Sandbox.create()`. */
export class Sandbox {
	private constructor();
	static create(language?: string | null, options?: SandboxOptions): Promise<Sandbox>;
	static attach(id: string, client?: Client): Promise<Sandbox>;
	readonly id: string;
	readonly start: { path: "fresh" | "parked" | null; why?: string };
	readonly client: Client;
	readonly files: Files;
	spawn(argv: string[] | null, options?: SpawnOptions): Promise<Process>;
	exec(argv: string[], options?: ExecOptions): Promise<Output>;
	put(name: string, content: Data, mode?: number): Promise<void>;
	get(name: string, max_bytes?: number): Promise<Buffer>;
	processes(): Promise<ProcessInfo[]>;
	attach_process(id: string): Promise<Process>;
	connect(port: number): Promise<Process>;
	usage(): Promise<SandboxUsage>;
	pause(): Promise<"none" | "freezer" | "signals">;
	resume(): Promise<void>;
	renew(lease: number): Promise<void>;
	branch(options?: { lease?: number; name?: string }): Promise<Sandbox>;
	/** An interpreter that keeps its state between runs of code; python when no language is said. */
	context(language?: string, options?: ContextOptions): Promise<Context>;
	/** Those that this object made and that still exist, the oldest first. */
	contexts(): Context[];
	/** Writes its plan and all its files to a file. Resolves to how many entries were left out: sockets and what cannot be read. */
	snapshot(file: SnapshotFile): Promise<number>;
	/** A sandbox from a file that `snapshot` wrote, here or in Python. */
	static restore(file: SnapshotFile, options?: { lease?: number; name?: string; client?: Client }): Promise<Sandbox>;
	destroy(): Promise<void>;
	/** Of `await using`: destroy. */
	[Symbol.asyncDispose](): Promise<void>;
}

/** A file's name, or a FileHandle of node:fs/promises at its beginning. */
export type SnapshotFile = string | URL | {
	read(buffer: Uint8Array, offset?: number, length?: number): Promise<{ bytesRead: number; buffer: Uint8Array }>;
	write(buffer: Uint8Array, offset?: number): Promise<{ bytesWritten: number }>;
};

export interface ContextOptions {
	cwd?: string;
	/** Added to the sandbox's. */
	env?: Record<string, string>;
	/** Python: "small" is what fumehood brings; "auto": IPython's where it is installed. */
	shell?: "auto" | "ipython" | "small";
	/** Python: modules to import first. */
	preload?: string[];
	/** Seconds; default 60. */
	start_timeout?: number;
}

/** What the driver of a context says (docs/contexts.md): `type` tells which other fields there are. */
export interface ContextEvent {
	type: "count" | "stdout" | "stderr" | "result" | "display" | "clear" | "error";
	[field: string]: unknown;
}

export interface ContextRunOptions {
	/** Seconds, after which the code is interrupted, as by Ctrl-C. */
	timeout?: number | null;
	/** For this run. */
	env?: Record<string, string>;
	/** No count, no result. */
	silent?: boolean;
	/** Called with each event as it comes; what it throws interrupts the run, and is thrown. */
	on_event?: (event: ContextEvent) => void;
	/** Seconds after an interrupt until the interpreter is killed; default 5. */
	grace?: number;
	/** Of all events; default 64 MiB. */
	max_bytes?: number;
	/** Interrupts the run: CancelledError; the variables stay. */
	signal?: AbortSignal;
}

/** An interpreter in a sandbox, made by `await sandbox.context()`. Runs are done one after the other. */
export class Context {
	private constructor();
	readonly id: string;
	readonly language: string;
	/** "ipython 9.1.0"; untrusted text. */
	readonly interpreter: string;
	readonly cwd: string | null;
	/** Of a branch: what of its parent's state it lacks, or shares with it, as texts for people. */
	readonly not_branched: string[];
	readonly removed: boolean;
	run(code: Data, options?: ContextRunOptions): Promise<Execution>;
	/** Interrupts the running code; its variables stay. */
	interrupt(): Promise<void>;
	/** Starts a new interpreter, without variables. */
	restart(): Promise<void>;
	remove(): Promise<void>;
	/** Another context with the state that this one has now. Python only. */
	branch(options?: { sandbox?: Sandbox }): Promise<Context>;
	/** Of `await using`: remove. */
	[Symbol.asyncDispose](): Promise<void>;
}

export class Execution {
	readonly status: "ok" | "failed" | "timeout" | "interrupted" | "output_limit" | "ended";
	readonly count: number;
	/** What the code displayed, and its value. */
	readonly results: Display[];
	readonly stdout: string;
	readonly stderr: string;
	readonly error: CodeError | null;
	/** The variables are gone, for the reason in `message`. */
	readonly state_lost: boolean;
	/** Another interpreter was started for this run. */
	readonly restarted: boolean;
	readonly message: string;
	readonly ok: boolean;
	/** The value of the code. */
	readonly result: Display | null;
	/** The value of the code as text. */
	readonly text: string | null;
}

/** An exception of the code. */
export class CodeError {
	readonly name: string;
	readonly value: string;
	readonly traceback: string;
}

/** A value that the code showed, in each form that it has; the others are null. `png`, `jpeg`, `pdf` are base64. */
export class Display {
	readonly mime: Record<string, unknown>;
	readonly metadata: Record<string, unknown>;
	/** Whether it is the value of the code itself. */
	readonly main: boolean;
	readonly display_id: string | null;
	readonly text: string | null;
	readonly html: string | null;
	readonly markdown: string | null;
	readonly svg: string | null;
	readonly png: string | null;
	readonly jpeg: string | null;
	readonly pdf: string | null;
	readonly latex: string | null;
	readonly json: unknown;
	readonly javascript: string | null;
	readonly data: unknown;
	readonly chart: unknown;
	/** Forms without such a name, by their MIME type. */
	readonly extra: Record<string, unknown>;
	formats(): string[];
	image(kind?: "png" | "jpeg" | "pdf"): Buffer | null;
}

export class FileInfo {
	readonly name: string;
	readonly type: "regular" | "folder" | "link" | "fifo" | "socket" | "character" | "block";
	readonly mode: number;
	readonly uid: number;
	readonly gid: number;
	readonly links: number;
	readonly size: number;
	readonly inode: number;
	readonly mtime: number;
	readonly atime: number;
	readonly ctime: number;
	readonly target: string | null;
}

export class WatchEvent {
	readonly kind: "create" | "write" | "remove" | "rename" | "chmod" | "overflow" | "gone";
	readonly name: string;
	readonly folder: boolean;
	readonly arrived: boolean;
	readonly cookie: number;
}

interface AsUser {
	user?: "user" | "root";
}
interface ReadOptions extends AsUser {
	offset?: number;
	length?: number;
	follow?: boolean;
}

/** `sandbox.files`: looked at and changed inside, with the rights of its user. */
export class Files {
	stat(path: string, options?: AsUser & { follow?: boolean }): Promise<FileInfo>;
	exists(path: string, options?: AsUser): Promise<boolean>;
	/** depth 0: at all depths. */
	list(path?: string, options?: AsUser & { depth?: number }): Promise<FileInfo[]>;
	make_folder(path: string, options?: AsUser & { mode?: number; parents?: boolean }): Promise<void>;
	rename(source: string, target: string, options?: AsUser): Promise<void>;
	remove(path: string, options?: AsUser & { recursive?: boolean }): Promise<void>;
	link(target: string, path: string, options?: AsUser & { symbolic?: boolean }): Promise<void>;
	change(path: string, changes: AsUser & { mode?: number; uid?: number; gid?: number; size?: number; mtime?: number; atime?: number;
		follow?: boolean }): Promise<void>;
	read(path: string, options?: ReadOptions): Promise<Buffer>;
	read_text(path: string, options?: ReadOptions): Promise<string>;
	stream(path: string, options?: ReadOptions): AsyncGenerator<Buffer>;
	write(path: string, data: Data | Iterable<Data> | AsyncIterable<Data>, options?: AsUser & { permissions?: number; mode?: "w" | "a" | "x" | "r+";
		offset?: number; follow?: boolean }): Promise<void>;
	attributes(path: string, options?: AsUser): Promise<Record<string, Buffer>>;
	set_attribute(path: string, name: string, value: Data | null, options?: AsUser): Promise<void>;
	watch(path?: string, options?: AsUser & { recursive?: boolean }): Promise<AsyncGenerator<WatchEvent>>;
}

export interface Verdict {
	task_id: string;
	index: number;
	passed: boolean;
	verdict: string;
	reason: string | null;
	[field: string]: unknown;
}
type Records = string | Iterable<Record<string, unknown>>;
/** One row a sample, in the order of the samples. */
export function judge(problems: Records, samples: Records, options?: { results?: string; jobs?: number; options?: string[];
	signal?: AbortSignal }): Promise<Verdict[]>;

export class FumehoodError extends Error {
	readonly reason: string;
	readonly hint: string;
	readonly code: string;
	readonly phase: string;
	readonly retryable: boolean;
	readonly errno: number | null;
}
/** The call itself is wrong. */
export class ArgumentError extends FumehoodError {}
/** A tool, a file, a sandbox or a process is not there. */
export class NotFoundError extends FumehoodError {}
export class LimitError extends FumehoodError {}
export class TimeoutError extends FumehoodError {}
export class CancelledError extends FumehoodError {}
/** This host cannot do what was required. */
export class UnavailableError extends FumehoodError {}
export class EngineError extends FumehoodError {}
