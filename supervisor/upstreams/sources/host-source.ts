/** The seam between a cluster and where its hosts come from: names, files, a control plane. */
import type {
  ClusterHostsResource,
  HostAnswer,
  HostResource,
} from '../../../shared/resources/clusters/cluster.ts';
import type { Steps } from '../../loop/loop-turns.ts';

/** What a source counts below `cluster.<name>.` */
export type UpdateCounter =
  | 'update_attempt'
  | 'update_success'
  | 'update_failure'
  | 'update_empty'
  | 'update_no_rebuild'
  | 'assignment_stale'
  | 'assignment_timeout_received';

/** What an assignment says beside its hosts. */
export type AssignmentPolicy = Pick<
  ClusterHostsResource,
  'overprovisioningFactor' | 'dropOverload'
>;

/** The cluster as a source sees it. */
export interface HostSink {
  /**
   * These are the hosts from now on; an address that comes twice is one host. `isChange`: count a
   * change even where all addresses were there already, under another name. Returns whether
   * anything but the order is new.
   */
  setHosts(hosts: readonly HostResource[], isChange?: boolean): boolean;
  /** The same of many; the hosts before them are those of the cluster until the last step. */
  setHostsInSteps(hosts: readonly HostResource[]): Steps<boolean>;
  /** An answer named these hosts; those that were there are counted as Envoy counts new ones. */
  confirmed(hosts: readonly HostResource[]): Steps<void>;
  count(counter: UpdateCounter): void;
  /** How hosts are chosen among those that are set next; what is dropped changes with them. */
  setPolicy(policy: AssignmentPolicy): void;
  /** The largest weight that a source saw. */
  setMaxHostWeight(weight: number): void;
  /** The first answer is there, good or bad. Called once. */
  initialized(): void;
}

export type HostAnswered = (answer: Pick<HostAnswer, 'outcome' | 'details'>) => void;

export interface HostSource {
  start(): void;
  /** The host of this name is in use. */
  used?(host: string): void;
  /** A request waits for the host of this name; `answered` is called once, maybe at once. */
  wanted?(host: string, answered: HostAnswered): void;
  /** A worker uses this host, which a request named. */
  requested?(host: HostResource): void;
  /** Nothing is told to the sink any more. */
  close(): void;
}
