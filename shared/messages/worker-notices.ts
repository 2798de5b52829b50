/**
 * What a worker tells the supervisor unasked: the part of worker-to-supervisor.ts that is no reply,
 * by subject.
 */
import type { CheckEvent } from '../health/check-event.ts';
import type { HostResource } from '../resources/clusters/cluster.ts';
import type { OutlierSign } from '../resources/clusters/outlier-detection.ts';
import type { QuotaNotice } from './quota-steps.ts';
import type { SharedNotice } from './shared-maps.ts';
import type { WantedRoutes } from '../resources/routes/wanted-routes.ts';

/** Notices about clusters and their hosts. */
export type ClusterNotice =
  /** After a host's first active check and whenever `bits`, those of active checks, change. */
  | {
      readonly kind: 'health_result';
      readonly cluster: string;
      /**
       * The cluster's version; what is found of another one than the supervisor has is of no use.
       */
      readonly version: number | undefined;
      readonly host: string;
      readonly bits: number;
    }
  /**
   * A line for the event log of the cluster's checks. A lost one is missing there, nowhere else.
   */
  | {
      readonly kind: 'health_event';
      readonly cluster: string;
      readonly version: number | undefined;
      readonly host: string;
      /** Which of the cluster's checks, from 0. */
      readonly check: number;
      readonly event: CheckEvent;
    }
  /**
   * A host reached a threshold of failures in a row, seen over all workers, or says that it is
   * degraded.
   */
  | {
      readonly kind: 'outlier_detected';
      readonly cluster: string;
      readonly host: string;
      readonly what: OutlierSign;
    }
  /**
   * Hosts reported their load, for `/clusters`: at most once per update of the weights. Where it is
   * lost, older weights are shown.
   */
  | {
      readonly kind: 'load_reported';
      readonly cluster: string;
      readonly weights: readonly SentWeight[];
    }
  /** The first request of this worker to a cluster with active checks. */
  | { readonly kind: 'traffic_began'; readonly cluster: string }
  /** A request named this host of its cluster; told again while it is used. */
  | { readonly kind: 'host_requested'; readonly cluster: string; readonly host: HostResource }
  /** The host of this name is in use, in a cluster of the names that requests carry. */
  | { readonly kind: 'host_used'; readonly cluster: string; readonly host: string }
  /**
   * A request waits for this name to be looked up for its cluster. Told once per request; answered
   * by `put_host_answers`. The ticket is the request's, unique over all workers.
   */
  | {
      readonly kind: 'host_wanted';
      readonly cluster: string;
      readonly host: string;
      readonly ticket: number;
    };

/**
 * A request waits for routes that are fetched when they are wanted. Answered by
 * `put_route_answers`; lost with its worker. The ticket is the request's, unique over all workers.
 */
export interface RoutesNotice {
  readonly kind: 'routes_wanted';
  readonly wanted: WantedRoutes;
  readonly ticket: number;
}

/** Notices about the clients of `/tap`. */
export type TapNotice =
  /**
   * A record for the client of `/tap`, in the form that it asked for. Dropped where the channel is
   * congested, and where the session is over.
   */
  | { readonly kind: 'tapped'; readonly session: number; readonly trace: Uint8Array }
  /**
   * Records of the session that were not sent. Those for which the channel was congested come
   * later.
   */
  | {
      readonly kind: 'tap_lost';
      readonly session: number;
      readonly records: number;
      readonly why: TapLoss;
    };

/**
 * So many exceptions in the data path that the worker should be replaced. Sent once in its life.
 */
export interface WornOutNotice {
  readonly kind: 'worn_out';
  readonly exceptions: number;
}

/** The worker runs this version of a module from now on. */
export interface ScriptNotice {
  readonly kind: 'script_began';
  /** As shared/limits/script-page.ts names it; another version is another module. */
  readonly module: number;
  readonly entry: string;
  /** How long it may hold a worker. */
  readonly loopTimeoutMs: number;
}

export type Notice =
  | ClusterNotice
  | RoutesNotice
  | TapNotice
  | WornOutNotice
  | ScriptNotice
  | SharedNotice
  | QuotaNotice;

/** Why a record of a tap does not reach its client. */
export type TapLoss = 'too_large' | 'too_slow';

/**
 * The weight that follows from what a host reported last, for how long it has reported, and how
 * long ago.
 */
export interface SentWeight {
  readonly host: string;
  readonly weight: number;
  readonly forMs: number;
  readonly agoMs: number;
}

const KINDS: Readonly<Record<Notice['kind'], true>> = {
  health_result: true,
  health_event: true,
  outlier_detected: true,
  load_reported: true,
  traffic_began: true,
  host_requested: true,
  host_used: true,
  host_wanted: true,
  routes_wanted: true,
  tapped: true,
  tap_lost: true,
  worn_out: true,
  script_began: true,
  shared_changes: true,
  quota_notice: true,
};

/** Whether a message of a worker is no reply. */
export function isNotice<Message extends { readonly kind: string }>(
  message: Message,
): message is Extract<Message, Notice> {
  return Object.hasOwn(KINDS, message.kind);
}
