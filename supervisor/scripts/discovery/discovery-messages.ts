/** What the supervisor and the thread of a module that finds hosts say to each other. */
import type { ScriptModule } from '../../../shared/scripts/script-module.ts';

/** What a thread begins with. */
export interface ThreadData {
  readonly module: ScriptModule;
  readonly loadTimeoutMs: number;
}

export type DiscoveryOrder =
  /** `settings`: JSON. */
  | {
      readonly order: 'start';
      readonly id: number;
      readonly cluster: string;
      readonly settings: string;
    }
  /** The list was looked at; the next one may be asked for after the pause. */
  | { readonly order: 'next'; readonly id: number; readonly pauseMs: number }
  | { readonly order: 'stop'; readonly id: number }
  | { readonly order: 'ping' };

export type DiscoveryReport =
  /** The module is loaded. */
  | { readonly report: 'ready' }
  | { readonly report: 'pong' }
  /** `answer`: the list as an answer of a control plane, in JSON. */
  | {
      readonly report: 'hosts';
      readonly id: number;
      readonly answer: Uint8Array<ArrayBuffer>;
    }
  /** A list that is none; `next` is waited for as after a good one. */
  | { readonly report: 'refused'; readonly id: number; readonly reason: string }
  /** The module has ended what it did for the cluster; `reason`: by a fault. */
  | { readonly report: 'ended'; readonly id: number; readonly reason?: string }
  | {
      readonly report: 'log';
      readonly id: number;
      readonly level: 'debug' | 'info' | 'warning' | 'error';
      readonly text: string;
    };
