/**
 * Decides what becomes of each command of a client: answered here, refused, or sent to hosts in the
 * way of its kind.
 */
import { asciiLower } from '../../../shared/text/ascii.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { REDIS_PROXY } from '../../../shared/stats/templates/redis.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import {
  array,
  bulk,
  errorValue,
  OK,
  RespKind,
  type RespValue,
  simple,
} from '../codec/resp-value.ts';
import {
  type CommandKind,
  COMMANDS,
  COUNTED_COMMANDS,
  LOCAL_COMMANDS,
  needsArgument,
} from '../commands.ts';
import type { KeyRoutes } from '../routes/key-routes.ts';
import { NO_PAIR } from '../session/authentication.ts';
import type { Transaction } from '../session/transaction.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';
import { CommandCounter } from './command-counter.ts';
import {
  type Asker,
  refuse,
  type RunParts,
  SingleRun,
  type Words,
  wrongNumber,
} from './command-run.ts';
import { DelayedAsker } from './delayed-asker.ts';
import type { Faults } from './faults.ts';
import { startOnShards } from './shard-commands.ts';
import { KeysRun, OkGathering, SumGathering, ValuesGathering } from './split-run.ts';
import { TransactionRun } from './transaction-run.ts';

/** One client's connection, as far as its commands go. */
export interface Session {
  readonly info: StreamInfo;
  readonly transaction: Transaction;
  /** It has authenticated, or need not. */
  readonly isAllowed: boolean;
  authenticate(words: Words, asker: Asker): void;
  /** HELLO; `count` is told of the answer. */
  greet(words: Words, asker: Asker, count: (answer: RespValue) => void): void;
  /** The connection closes with the answers to what it has asked. */
  quit(): void;
}

export interface SplitterParts {
  readonly loop: WorkerLoop;
  readonly writer: StatWriter;
  /** The number of the proxy's block. */
  readonly base: number;
  /** `redis.<stat_prefix>.` */
  readonly prefix: string;
  readonly routes: KeyRoutes;
  readonly faults: Faults;
  readonly customCommands: readonly string[];
  readonly hasMicroseconds: boolean;
}

const { index } = REDIS_PROXY;
const INVALID_REQUEST = 'invalid request';
export const NOT_AUTHENTICATED = 'NOAUTH Authentication required.';

export class CommandSplitter {
  readonly #parts: SplitterParts;
  readonly #counters = new Map<string, CommandCounter>();

  constructor(parts: SplitterParts) {
    const { prefix, writer, customCommands, hasMicroseconds, loop } = parts;
    this.#parts = parts;
    const counting = { writer, clock: loop.clock, hasMicroseconds };
    for (const name of new Set([...COUNTED_COMMANDS, ...customCommands])) {
      this.#counters.set(name, new CommandCounter(`${prefix}command.${name}.`, counting));
    }
  }

  release(): void {
    for (const counter of this.#counters.values()) counter.release();
  }

  /** What can be cancelled; undefined where the answer is there already. */
  start(value: RespValue, session: Session, asker: Asker): CommandHandle | undefined {
    const words = wordsOf(value);
    if (words === undefined) {
      this.#refuseInvalid(asker);
      return undefined;
    }
    const [first = '', second = ''] = words;
    const name = asciiLower(first);
    if (!this.#counters.has(name) && !LOCAL_COMMANDS.has(name)) {
      this.#count('splitter.unsupported_command');
      const text = `ERR unknown command '${first}', with args beginning with: ${second}`;
      asker.answer(errorValue(text));
      return undefined;
    }
    if (this.#startLocally(name, words, session, asker)) return undefined;
    if (words.length < 2 && name === 'scan') {
      asker.answer(errorValue(`ERR ${wrongNumber(words)}`));
    } else if (words.length < 2 && needsArgument(name)) {
      this.#refuseInvalid(asker);
    } else return this.#startAtHosts(name, words, session, asker);
    return undefined;
  }

  /** Whether the command is one that no host sees, or may not go on. */
  #startLocally(name: string, words: Words, session: Session, asker: Asker): boolean {
    if (name === 'auth') {
      if (words.length < 2) this.#refuseInvalid(asker);
      else session.authenticate(words, asker);
      return true;
    }
    if (name === 'hello') {
      this.#greet(words, session, asker);
      return true;
    }
    if (!session.isAllowed && name !== 'quit') {
      asker.answer(errorValue(NOT_AUTHENTICATED));
      return true;
    }
    if (!LOCAL_COMMANDS.has(name)) return false;
    if (name === 'quit') session.quit();
    const answer = answerLocally(name, words, this.#parts.loop);
    if (answer === undefined) this.#refuseInvalid(asker);
    else asker.answer(answer);
    return true;
  }

  /** Counted as it is answered, without a time. */
  #greet(words: Words, session: Session, asker: Asker): void {
    const counter = this.#counters.get('hello');
    counter?.began();
    const count = (value: RespValue): void => {
      // That nobody needs a password is neither good nor bad.
      if (value.text !== NO_PAIR) counter?.finished(!value.isError, undefined);
    };
    if (!session.transaction.isActive) {
      session.greet(words, asker, count);
      return;
    }
    const refusal = errorValue("'hello' command is not supported within transaction");
    count(refusal);
    asker.answer(refusal);
  }

  #startAtHosts(
    name: string,
    words: Words,
    session: Session,
    asker: Asker,
  ): CommandHandle | undefined {
    const { transaction } = session;
    const counted = transaction.isActive ? 'multi' : name;
    const counter = this.#counters.get(counted);
    if (counter === undefined) return undefined;
    const fault = this.#parts.faults.draw(name);
    counter.began();
    const { loop, routes } = this.#parts;
    const delayed =
      fault === undefined || fault.delayMs === 0
        ? undefined
        : new DelayedAsker({ asker, counter, loop, delayMs: fault.delayMs });
    const parts: RunParts = {
      asker: delayed ?? asker,
      counter,
      routes,
      info: session.info,
      startedMs: delayed === undefined ? loop.clock.ms : undefined,
    };
    if (fault?.isError === true) {
      counter.finished(false, parts.startedMs);
      parts.asker.answer(errorValue('Fault Injected: Error'));
      counter.madeToFail();
      return delayed;
    }
    const kind = transaction.isActive ? 'transaction' : (COMMANDS.get(name) ?? 'simple');
    const run =
      kind === 'transaction'
        ? startInTransaction(name, words, parts, transaction)
        : startRun(kind, name, words, parts);
    if (delayed === undefined) return run;
    delayed.run = run;
    return delayed;
  }

  #refuseInvalid(asker: Asker): void {
    this.#count('splitter.invalid_request');
    asker.answer(errorValue(INVALID_REQUEST));
  }

  #count(name: keyof typeof index): void {
    const { writer, base } = this.#parts;
    writer.increment(base + index[name]);
  }
}

/** Undefined for what is no array of texts. */
function wordsOf({ kind, items }: RespValue): Words | undefined {
  if (kind !== RespKind.array || items.length === 0) return undefined;
  const words: Words = [];
  for (const item of items) {
    if (item.kind !== RespKind.bulk) return undefined;
    words.push(item.text);
  }
  return words;
}

/** Undefined: the command has not the right arguments. */
function answerLocally(name: string, words: Words, { clock }: WorkerLoop): RespValue | undefined {
  const [, first] = words;
  switch (name) {
    case 'ping':
      return simple('PONG');
    case 'echo':
      return words.length === 2 && first !== undefined ? bulk(first) : undefined;
    case 'time': {
      const micros = Math.floor(clock.wallMs * 1000);
      return array([bulk(String(Math.floor(micros / 1e6))), bulk(String(micros))]);
    }
    case 'client': {
      if (first === undefined) return undefined;
      const isKept = ['setinfo', 'setname'].includes(asciiLower(first));
      if (isKept) return OK;
      return errorValue(`ERR CLIENT subcommand '${first}' is not supported by the proxy`);
    }
    default:
      return OK;
  }
}

function startInTransaction(
  name: string,
  words: Words,
  parts: RunParts,
  transaction: Transaction,
): CommandHandle {
  const run = new TransactionRun(parts, transaction);
  run.start(name, words);
  return run;
}

function startRun(
  kind: Exclude<CommandKind, 'transaction'>,
  name: string,
  words: Words,
  parts: RunParts,
): CommandHandle | undefined {
  switch (kind) {
    case 'simple':
      return startSingle(parts, words, 1);
    case 'object':
      return startSingle(parts, words, 2);
    case 'eval':
      return startSingle(parts, words, 3);
    case 'mget':
    case 'mset':
    case 'sum':
      return startSplit(kind, words, parts);
    default:
      return startOnShards(kind, name, words, parts);
  }
}

function startSingle(parts: RunParts, words: Words, keyAt: number): CommandHandle {
  const run = new SingleRun(parts);
  run.start(words, keyAt);
  return run;
}

function startSplit(
  kind: 'mget' | 'mset' | 'sum',
  words: Words,
  parts: RunParts,
): CommandHandle | undefined {
  const keys = words.length - 1;
  if (kind === 'mset' && keys % 2 !== 0) {
    refuse(parts, wrongNumber(words));
    return undefined;
  }
  if (kind === 'mset') {
    const run = new KeysRun(parts, new OkGathering(), keys / 2);
    run.start('set', words, 2);
    return run;
  }
  const isSum = kind === 'sum';
  const gathering = isSum ? new SumGathering() : new ValuesGathering(keys);
  const run = new KeysRun(parts, gathering, keys);
  run.start(isSum ? (words[0] ?? '') : 'get', words, 1);
  return run;
}
