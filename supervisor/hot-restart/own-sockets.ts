/**
 * The names that one epoch holds while it lives: its ends as parent and as child, and those for
 * datagrams of UDP listeners, which nobody sends to a server without such listeners. Holding them
 * is what makes a base id taken.
 */
import type { Clock } from '../../shared/process/clock.ts';
import { PosixError } from '../../shared/posix/posix-error.ts';
import { ChildSide } from './child-side.ts';
import { Endpoint } from './endpoint.ts';
import { endpointAddress, type EndpointRole, type Meeting } from './endpoint-names.ts';
import type { ParentStats } from './hot-restart-message.ts';
import { ParentSide, type ParentCommands } from './parent-side.ts';
import { HotRestartRefused } from './refusal.ts';
import type { Refusals } from './refusals.ts';
import { describeHolders } from './socket-holders.ts';

/** A datagram of a UDP listener of the other epoch, which this one has no listener for. */
const UNUSED_BYTES_MAX = 128 * 1024;

export interface OwnSocketsOptions {
  readonly meeting: Meeting;
  readonly epoch: number;
  readonly socketMode: number;
  readonly clock: Clock;
  /** What the next epoch may command; undefined until there is something to hand over. */
  commands(): ParentCommands | undefined;
  lastStats(stats: ParentStats): void;
  readonly log: (level: 'debug' | 'warning' | 'error', text: string) => void;
  readonly refusals: Refusals;
}

export class OwnSockets {
  readonly child: ChildSide;
  readonly parent: ParentSide;
  readonly #closers: readonly (() => void)[];

  private constructor(parent: ParentSide, child: ChildSide, closers: readonly (() => void)[]) {
    this.parent = parent;
    this.child = child;
    this.#closers = closers;
  }

  /** Binds all names, or throws `HotRestartRefused` with none of them bound. */
  static bind(options: OwnSocketsOptions): OwnSockets {
    const closers: (() => void)[] = [];
    try {
      const parent = bindParent(options);
      closers.push(() => parent.close());
      const child = bindChild(options);
      closers.push(() => child.close());
      for (const role of ['udp_parent', 'udp_child'] as const) {
        const endpoint = bindUnused(options, role);
        closers.push(() => endpoint.close());
      }
      return new OwnSockets(parent, child, closers);
    } catch (error) {
      for (const close of closers) close();
      throw error;
    }
  }

  close(): void {
    for (const close of this.#closers) close();
  }
}

function bindParent(options: OwnSocketsOptions): ParentSide {
  const { clock, socketMode, meeting, epoch, log, refusals } = options;
  return named(options, 'parent', (own) => {
    return new ParentSide({
      clock,
      own,
      socketMode,
      child: endpointAddress(meeting, 'child', epoch + 1),
      commands: () => options.commands(),
      malformed: (reason) => refusals.malformed(`the next epoch sent no message: ${reason}`),
      stranger: (uid, pid) => refusals.stranger(own.path, uid, pid),
      childGone: () => refusals.say('the next epoch is gone before it was answered'),
      failed: (error) => log('error', `cannot obey the next epoch: ${String(error)}`),
    });
  });
}

function bindChild(options: OwnSocketsOptions): ChildSide {
  const { clock, socketMode, meeting, epoch, refusals } = options;
  return named(options, 'child', (own) => {
    return new ChildSide({
      clock,
      own,
      socketMode,
      parent: endpointAddress(meeting, 'parent', Math.max(0, epoch - 1)),
      lastStats: (stats) => options.lastStats(stats),
      malformed: (reason) => refusals.malformed(`the epoch before sent no message: ${reason}`),
      stranger: (uid, pid) => refusals.stranger(own.path, uid, pid),
    });
  });
}

function bindUnused(options: OwnSocketsOptions, role: 'udp_parent' | 'udp_child'): Endpoint {
  const { clock, socketMode, refusals } = options;
  return named(options, role, (own) => {
    const handlers = {
      message: () => undefined,
      malformed: () => undefined,
      stranger: (uid?: number, pid?: number) => refusals.stranger(own.path, uid, pid),
    };
    const messageBytesMax = UNUSED_BYTES_MAX;
    return Endpoint.bind(own, { clock, socketMode, handlers, messageBytesMax });
  });
}

/** The first words are Envoy's, which people search for. */
function named<T>(
  options: OwnSocketsOptions,
  role: EndpointRole,
  bind: (own: ReturnType<typeof endpointAddress>) => T,
): T {
  const { meeting, epoch } = options;
  const own = endpointAddress(meeting, role, epoch);
  try {
    return bind(own);
  } catch (error) {
    if (!(error instanceof PosixError)) throw error;
    if (error.code !== 'EADDRINUSE') {
      throw new HotRestartRefused(
        `cannot bind hot restart socket ${own.path}: ${error.message} (see --socket-path option)`,
        { cause: error },
      );
    }
    const holders = describeHolders(own);
    throw new HotRestartRefused(
      `unable to bind domain socket with base_id=${meeting.baseId * 10}, id=${epoch % 3}, ` +
        `errno=${error.errno} (see --base-id option)` +
        (holders === undefined ? '' : `: base id ${meeting.baseId} is in use by ${holders}`),
      { cause: error },
    );
  }
}
