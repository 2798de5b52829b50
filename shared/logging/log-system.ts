/**
 * One process's log: its loggers, the layout of their lines and the output they go to. Code uses
 * the process's own through process-log.ts; tests make others.
 */
import { systemClock, type Clock } from '../process/clock.ts';
import { siteOf } from './call-site.ts';
import { escapeJson } from './escape.ts';
import type { LogComponent } from './components.ts';
import { defaultLogFormat } from './default-format.ts';
import { compileLineFormat, type LineFormat } from './line-format.ts';
import { LineOutput, type Pino } from './line-output.ts';
import type { LogSettings } from './log-settings.ts';
import { Logger, type EmittedLine, type LineSink, type LogTags } from './logger.ts';
import { LoggerRegistry } from './logger-registry.ts';
import { ExactWallTime } from './exact-wall-time.ts';

export class LogSystem implements LineSink {
  readonly registry = new LoggerRegistry();
  readonly #time: ExactWallTime;
  readonly #clock: Clock;
  #format: LineFormat = compileLineFormat(defaultLogFormat, false);
  #isStackSingleEntry = false;
  #output: LineOutput = new LineOutput('');
  #pino: Pino | undefined;
  #lastLineNs: bigint | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#time = new ExactWallTime(clock);
  }

  /** A new logger for the calling file. */
  readonly getLogger = (component: LogComponent): Logger => {
    const logger = new Logger(component, 0, this, this.getLogger);
    this.registry.add(logger);
    return logger;
  };

  /**
   * Sets levels, layout and output. Lines written before went to standard error.
   * @throws LogFileError; then nothing has changed
   */
  configure(settings: LogSettings): void {
    if (settings.path !== this.#output.path) {
      const output = new LineOutput(settings.path);
      this.#output.close();
      this.#output = output;
      if (this.#pino !== undefined) output.attachPino(this.#pino);
    }
    this.registry.configure(settings.isFineGrain, settings.levels);
    this.#isStackSingleEntry = settings.isStackSingleEntry;
    this.#format = compileLineFormat(settings.format, settings.isEscaped);
  }

  /** Loads pino and lets it write from then on. For after the start: loading takes some 20 ms. */
  async attachPino(): Promise<void> {
    const { default: pino } = await import('pino');
    this.#pino = pino;
    this.#output.attachPino(pino);
  }

  /** @throws LogFileError, and then goes on with the old file */
  reopen(): void {
    this.#output.reopen();
  }

  /** Lines that a closed pipe, a full disk or a reader that stopped have cost so far. */
  get droppedLines(): number {
    return this.#output.droppedLines;
  }

  /** An error's stack, as one line of the log or one for each frame, as the options say. */
  logStack(logger: Logger, error: Error): void {
    const stack = error.stack ?? error.message;
    if (this.#isStackSingleEntry) logger.critical(stack);
    else for (const line of stack.split('\n')) logger.critical(line);
  }

  get needsSite(): boolean {
    return this.#format.needsSite;
  }

  emit({ level, component, message, tags, frame }: EmittedLine): void {
    const exact = this.#format.needsExactTime ? this.#time.now() : undefined;
    const line = this.#format.format({
      date: new Date(exact?.ms ?? this.#clock.wallMs()),
      subMsNs: exact?.subMsNs ?? 0,
      elapsedNs: exact === undefined ? 0n : this.#elapsedNs(),
      level,
      component,
      message: tags === undefined ? message : `[Tags: ${tagTexts(tags).join(',')}] ${message}`,
      bareMessage: message,
      tagsJson:
        tags === undefined
          ? ''
          : tagTexts(tags)
              .map((text) => `,${text}`)
              .join(''),
      site: frame === undefined ? undefined : siteOf(frame),
    });
    this.#output.write(level, line);
  }

  #elapsedNs(): bigint {
    const now = this.#clock.monotonicNs();
    const elapsed = this.#lastLineNs === undefined ? 0n : now - this.#lastLineNs;
    this.#lastLineNs = now;
    return elapsed;
  }
}

function tagTexts(tags: LogTags): string[] {
  return Object.entries(tags).map(([key, value]) => `"${key}":"${escapeJson(value)}"`);
}
