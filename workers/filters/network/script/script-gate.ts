/**
 * Lets a module of the operator's own decide whether a connection goes on. The failure mode decides
 * where the module throws, takes too long, could not be loaded or is switched off.
 */
import {
  NETWORK_SCRIPT,
  type NetworkScript,
} from '../../../../shared/resources/filters/network/script.ts';
import { dottedPrefix } from '../../../../shared/stats/stat-scope.ts';
import type {
  ConnectionVerdict,
  FilteredConnection,
  NetworkFilterHandlers,
} from '../../../../shared/scripts/network-filter.ts';
import { RunningModule } from '../../../scripts/running-module.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import type { NetworkFilterContext } from '../../network-filter-context.ts';
import type { NetworkGate, Resume, Waiting } from '../../network-gate.ts';
import { AwaitedVerdict, type Outcome } from './awaited-verdict.ts';
import { filteredConnection } from './shown-connection.ts';

const { index } = NETWORK_SCRIPT;

type Stage = keyof NetworkFilterHandlers;

export function makeScriptGate(filter: NetworkScript, context: NetworkFilterContext): NetworkGate {
  return new ScriptGate(filter, context);
}

class ScriptGate implements NetworkGate {
  readonly #filter: NetworkScript;
  readonly #context: NetworkFilterContext;
  readonly #base: number;
  readonly #module: RunningModule<NetworkFilterHandlers>;

  constructor(filter: NetworkScript, context: NetworkFilterContext) {
    const { stats, scripts } = context;
    const prefix = dottedPrefix(`script.${filter.statPrefix}`);
    this.#filter = filter;
    this.#context = context;
    this.#base = stats.defineBlock(NETWORK_SCRIPT, prefix);
    this.#module = new RunningModule<NetworkFilterHandlers>({
      kind: 'network_filter',
      name: filter.statPrefix,
      config: filter,
      prefix,
      scripts,
      stats,
      counted: {
        errors: this.#base + index.errors,
        load_failures: this.#base + index.load_failures,
        disabled: this.#base + index.disabled,
      },
      check: () => undefined,
    });
  }

  onConnection(info: StreamInfo, resume: Resume): boolean | Waiting {
    return this.#ask('onConnection', info, resume);
  }

  onFirstBytes(info: StreamInfo, resume: Resume): boolean | Waiting {
    return this.#ask('onFirstBytes', info, resume);
  }

  release(): void {
    this.#module.release();
    this.#context.stats.releaseBlock(this.#base);
  }

  #ask(stage: Stage, info: StreamInfo, resume: Resume): boolean | Waiting {
    const { scripts } = this.#context;
    const { version } = this.#module;
    if (version === undefined) return this.#fail();
    const { handlers, moduleId } = version;
    if (handlers[stage] === undefined) return this.#decide(true, stage);
    const connection = filteredConnection(info);
    const answer = this.#module.run(moduleId, () => call(handlers, stage, connection));
    if (answer === undefined) return this.#fail();
    if (!(answer.verdict instanceof Promise)) return this.#decide(answer.verdict, stage);
    scripts.marks.awaits(moduleId);
    return this.#wait(answer.verdict, stage, resume);
  }

  #wait(promise: Promise<ConnectionVerdict>, stage: Stage, resume: Resume): Waiting {
    const { loop, scripts } = this.#context;
    const timeoutMs = this.#filter.decisionTimeoutMs;
    const noMore = (): void => scripts.marks.awaitsNoMore();
    promise.then(noMore, noMore);
    const decide = (outcome: Outcome): boolean => this.#decideAwaited(outcome, stage);
    return new AwaitedVerdict(promise, { loop, timeoutMs, decide }, resume);
  }

  #decideAwaited(outcome: Outcome, stage: Stage): boolean {
    if (outcome.kind === 'verdict') return this.#decide(outcome.verdict, stage);
    if (outcome.kind === 'error') this.#module.noteFault(outcome.error);
    else this.#count('timeouts');
    return this.#fail();
  }

  /** A connection has passed when the last stage lets it. */
  #decide(verdict: ConnectionVerdict, stage: Stage): boolean {
    if (verdict === false) this.#count('refused');
    else if (stage === 'onFirstBytes') this.#count('passed');
    return verdict !== false;
  }

  #fail(): boolean {
    this.#count('failed');
    return this.#filter.failureModeAllow;
  }

  #count(stat: 'passed' | 'refused' | 'failed' | 'timeouts'): void {
    this.#context.stats.increment(this.#base + index[stat]);
  }
}

/** In an object: undefined is a verdict, too. */
function call(
  handlers: NetworkFilterHandlers,
  stage: Stage,
  connection: FilteredConnection,
): { readonly verdict: ConnectionVerdict | Promise<ConnectionVerdict> } {
  return { verdict: handlers[stage]?.(connection) };
}
