/**
 * Knows all loggers of a process and their levels, by component or, with per-file loggers, by
 * source file. It writes nothing.
 */
import { isLogComponent, logComponents } from './components.ts';
import { matchesFile } from './file-pattern.ts';
import { severityOf, type LogLevel } from './levels.ts';
import type { FileLevel, LogLevels } from './log-settings.ts';
import type { Logger } from './logger.ts';

export interface NamedLevel {
  readonly name: string;
  readonly level: LogLevel;
}

/** More patterns than this are refused: each is tried for each file. */
const maxFilePatterns = 1000;

export class LoggerRegistry {
  readonly #loggers = new Set<Logger>();
  #isFineGrain = false;
  #levels: LogLevels = { default: 'info', components: {}, files: [] };
  readonly #listeners = new Set<(levels: LogLevels) => void>();

  /** One logger per source file, named by its path or by a pattern. */
  get fineGrain(): boolean {
    return this.#isFineGrain;
  }

  /** Everything another process needs to set the same levels. */
  get allLevels(): LogLevels {
    return this.#levels;
  }

  add(logger: Logger): void {
    this.#loggers.add(logger);
    logger.threshold = severityOf[this.#levelOf(logger)];
  }

  /** Sets how loggers are named and all their levels; listeners are not told. */
  configure(isFineGrain: boolean, levels: LogLevels): void {
    this.#isFineGrain = isFineGrain;
    this.#levels = levels;
    for (const logger of this.#loggers) logger.threshold = severityOf[this.#levelOf(logger)];
  }

  /** Calls `listener` with the new levels after each change by one of the methods below. */
  onChange(listener: (levels: LogLevels) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * All loggers by name with their present level: components in their fixed order, files sorted.
   */
  levels(): readonly NamedLevel[] {
    if (this.#isFineGrain) {
      const files = new Map([...this.#loggers].map((logger) => [logger.file, logger]));
      const named = [...files].map(([name, logger]) => ({ name, level: this.#levelOf(logger) }));
      return named.sort((left, right) => (left.name < right.name ? -1 : 1));
    }
    return logComponents.map((name) => ({
      name,
      level: this.#levels.components[name] ?? this.#levels.default,
    }));
  }

  /** Levels as they were. */
  restore(levels: LogLevels): void {
    this.#change(levels);
  }

  setAll(level: LogLevel): void {
    this.#change({ default: level, components: {}, files: [] });
  }

  /** @returns false, and changes nothing, when there is no logger of that name */
  set(name: string, level: LogLevel): boolean {
    return this.setMany([{ name, level }]);
  }

  /**
   * Sets several loggers, all or none. With per-file loggers every name is welcome, since files are
   * loaded late and other processes have loggers of their own; the latest match counts.
   * @returns false, and changes nothing, when there is no logger of some name
   */
  setMany(changes: readonly NamedLevel[]): boolean {
    const { default: fallback, components, files } = this.#levels;
    if (this.#isFineGrain) {
      return this.#addFileLevels(changes.map(({ name, level }) => ({ pattern: name, level })));
    }
    const changed = { ...components };
    for (const { name, level } of changes) {
      if (!isLogComponent(name)) return false;
      changed[name] = level;
    }
    this.#change({ default: fallback, components: changed, files });
    return true;
  }

  /**
   * With per-file loggers, sets those of all files that log as one component.
   * @returns false, and changes nothing, when too many levels are set already
   */
  setGroup(name: string, level: LogLevel): boolean {
    return this.#addFileLevels([{ pattern: name, level, isGroup: true }]);
  }

  #addFileLevels(added: readonly FileLevel[]): boolean {
    const { default: fallback, components, files } = this.#levels;
    const isReplaced = (old: FileLevel): boolean =>
      added.some(({ pattern, isGroup }) => pattern === old.pattern && isGroup === old.isGroup);
    const all = [...added, ...files.filter((old) => !isReplaced(old))];
    if (all.length > maxFilePatterns) return false;
    this.#change({ default: fallback, components, files: all });
    return true;
  }

  #change(levels: LogLevels): void {
    this.configure(this.#isFineGrain, levels);
    for (const listener of this.#listeners) listener(levels);
  }

  #levelOf(logger: Logger): LogLevel {
    const { components, files, default: fallback } = this.#levels;
    if (!this.#isFineGrain) return components[logger.component] ?? fallback;
    const match = files.find(({ pattern, isGroup }) =>
      isGroup === true ? pattern === logger.component : matchesFile(pattern, logger.file),
    );
    return match?.level ?? fallback;
  }
}
