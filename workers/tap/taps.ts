/**
 * The taps of one worker: those that the configuration has, and the one that a client of the admin
 * interface has asked for. Filters ask here at each request which tap is in force.
 */
import type {
  SocketTap as SocketTapSettings,
  TapListenOrder,
  TapSettings,
} from '../../shared/resources/tap.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { Runtime } from '../loop/runtime.ts';
import { ListenedTap } from './listened-tap.ts';
import type { ActiveTap } from './request-tap.ts';
import { SocketTaps, type WatchedSockets } from './socket-taps.ts';
import { TapFiles } from './tap-files.ts';
import { compileTapMatch } from './tap-matcher.ts';
import type { TapSink } from './tap-sink.ts';

export interface TapsOptions {
  /** Gives a record of the admin's tap to the supervisor. */
  send(session: number, bytes: Buffer): void;
  log(text: string): void;
  readonly stats: StatWriter;
  readonly runtime: Runtime;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

interface AdminTap extends ActiveTap {
  readonly configId: string;
}

export class Taps {
  readonly #options: TapsOptions;
  readonly #files: TapFiles;
  #admin: AdminTap | undefined;
  #listened: ListenedTap | undefined;

  constructor(options: TapsOptions) {
    this.#options = options;
    this.#files = new TapFiles((text) => options.log(text));
  }

  /** The tap of a filter whose settings are part of the configuration. */
  compile(settings: TapSettings): ActiveTap {
    const { sink } = settings;
    if (sink.kind === 'admin') throw new Error('a configured tap cannot write to the admin');
    return this.#make(settings, this.#files.sink(sink.pathPrefix));
  }

  /** Connections through these taps, outermost first; undefined: there are none. */
  watch(taps: readonly SocketTapSettings[] | undefined): WatchedSockets | undefined {
    if (taps === undefined || taps.length === 0) return undefined;
    const active = taps.map(({ source, ...rest }) => {
      const configured = source.kind === 'static' ? this.compile(source.settings) : undefined;
      const inForce = (): ActiveTap | undefined =>
        source.kind === 'admin' ? this.adminTap(source.configId) : configured;
      return { ...rest, inForce };
    });
    return new SocketTaps(active, this.#options);
  }

  /** The tap that a client asked for under this id, while it is there. */
  adminTap(configId: string): ActiveTap | undefined {
    return this.#admin?.configId === configId ? this.#admin : undefined;
  }

  /** The tap of listeners that a client asked for, while it is there. */
  get listened(): ListenedTap | undefined {
    return this.#listened;
  }

  begin(session: number, configId: string, settings: TapSettings, listen?: TapListenOrder): void {
    const sink =
      settings.sink.kind === 'file'
        ? this.#files.sink(settings.sink.pathPrefix)
        : this.#adminSink(session);
    const tap = this.#make(settings, sink);
    if (listen === undefined) this.#admin = { configId, ...tap };
    else this.#listened = new ListenedTap(tap, listen, this.#options.nowMs);
  }

  /** Requests under way are recorded to their end, but nobody reads it any more. */
  end(): void {
    this.#admin = undefined;
    this.#listened = undefined;
  }

  #make(settings: TapSettings, sink: TapSink): ActiveTap {
    return { settings, matcher: compileTapMatch(settings.match), sink };
  }

  #adminSink(session: number): TapSink {
    const output = {
      write: (bytes: Buffer) => this.#options.send(session, bytes),
      end: () => undefined,
    };
    return { open: () => output };
  }
}
