/** Which fault is injected into a command. Shares add up, in whole percent. */
import { readInteger } from '../../../shared/runtime/read-runtime.ts';
import type { RedisFault } from '../../../shared/resources/filters/network/redis-proxy.ts';
import type { Runtime } from '../../loop/runtime.ts';

export class Faults {
  readonly #runtime: Runtime;
  readonly #ofAll: readonly RedisFault[];
  /** A command's own come first. */
  readonly #byCommand = new Map<string, RedisFault[]>();

  constructor(faults: readonly RedisFault[], runtime: Runtime) {
    this.#runtime = runtime;
    this.#ofAll = faults.filter(({ commands }) => commands.length === 0);
    for (const fault of faults) {
      for (const command of fault.commands) {
        const own = this.#byCommand.get(command);
        if (own === undefined) this.#byCommand.set(command, [fault]);
        else own.push(fault);
      }
    }
    for (const own of this.#byCommand.values()) own.push(...this.#ofAll);
  }

  /** The name is in lower case. */
  draw(command: string): RedisFault | undefined {
    const faults = this.#byCommand.get(command) ?? this.#ofAll;
    if (faults.length === 0) return undefined;
    const random = this.#runtime.random() % 100;
    let share = 0;
    for (const fault of faults) {
      share += this.#percentOf(fault);
      if (random < share) return fault;
    }
    return undefined;
  }

  #percentOf({ share: { runtimeKey, numerator, denominator } }: RedisFault): number {
    const percent = Math.floor((numerator * 100) / denominator);
    return runtimeKey === undefined
      ? percent
      : readInteger(this.#runtime.snapshot, runtimeKey, percent);
  }
}
