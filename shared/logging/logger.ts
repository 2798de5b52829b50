/** What code uses to write to the process log: one logger per use of a component's name. */
import { captureFrame, siteOf, type CapturedFrame } from './call-site.ts';
import type { LogComponent } from './components.ts';
import { severityOf, type LineLevel } from './levels.ts';

/** Short facts about what a line concerns, such as `ConnectionId`. */
export type LogTags = Readonly<Record<string, string>>;

/** Takes the lines of all loggers. */
export interface LineSink {
  /** Whether `emit` will look at the frame. */
  readonly needsSite: boolean;
  emit(line: EmittedLine): void;
}

export interface EmittedLine {
  readonly level: LineLevel;
  readonly component: LogComponent;
  readonly message: string;
  readonly tags: LogTags | undefined;
  readonly frame: CapturedFrame | undefined;
}

/** Writes one line; can be passed on by itself. */
type WriteMethod = (message: string, tags?: LogTags) => void;

export class Logger {
  readonly component: LogComponent;
  /** Lowest severity that is written; set by the registry only. */
  threshold: number;
  readonly #sink: LineSink;
  readonly #creation: CapturedFrame;

  /** @param maker the function whose caller uses the logger: it names the logger's file */
  constructor(
    component: LogComponent,
    threshold: number,
    sink: LineSink,
    maker: (...args: never[]) => unknown,
  ) {
    this.component = component;
    this.threshold = threshold;
    this.#sink = sink;
    this.#creation = captureFrame(maker);
  }

  /** The source file that made this logger. */
  get file(): string {
    return siteOf(this.#creation)?.file ?? '';
  }

  /** Ask before a message is made that costs something. */
  isEnabled(level: LineLevel): boolean {
    return severityOf[level] >= this.threshold;
  }

  readonly trace: WriteMethod = (message, tags) => {
    if (this.threshold <= 0) this.#emit('trace', message, tags, this.trace);
  };

  readonly debug: WriteMethod = (message, tags) => {
    if (this.threshold <= 1) this.#emit('debug', message, tags, this.debug);
  };

  readonly info: WriteMethod = (message, tags) => {
    if (this.threshold <= 2) this.#emit('info', message, tags, this.info);
  };

  readonly warning: WriteMethod = (message, tags) => {
    if (this.threshold <= 3) this.#emit('warning', message, tags, this.warning);
  };

  readonly error: WriteMethod = (message, tags) => {
    if (this.threshold <= 4) this.#emit('error', message, tags, this.error);
  };

  readonly critical: WriteMethod = (message, tags) => {
    if (this.threshold <= 5) this.#emit('critical', message, tags, this.critical);
  };

  /** For a level that is known only at run time. */
  readonly log = (level: LineLevel, message: string, tags?: LogTags): void => {
    if (this.isEnabled(level)) this.#emit(level, message, tags, this.log);
  };

  #emit(
    level: LineLevel,
    message: string,
    tags: LogTags | undefined,
    method: WriteMethod | Logger['log'],
  ): void {
    const frame = this.#sink.needsSite ? captureFrame(method) : undefined;
    this.#sink.emit({ level, component: this.component, message, tags, frame });
  }
}
