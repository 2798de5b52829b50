/** What stands in the configuration of something that asks a service, and what a client sees of it. */
import type { Failure, Protocol } from '../peers/hostile/failing-services.ts';

export const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
/** As long as any of them waits. */
export const TIMEOUT = '0.4s';

/** A failure, or that the cluster is taken away before or while a request asks. */
export type Trouble = Failure | 'leaving' | 'gone';

export interface AskingPart {
  readonly name: string;
  readonly protocol: Protocol;
  /** The HTTP filter in front of the router. */
  http?(cluster: string): object;
  /** The network filter in front of the TCP proxy. */
  network?(cluster: string): object;
  /** Fields of the TCP proxy. */
  tcp?(cluster: string): object;
  /** Fields of the connection manager. */
  hcm?(cluster: string): object;
  /** What a client gets; of a network filter 200 for an echo and 0 for a closed connection. */
  readonly status: number;
  /** Where its own time is over before the service has failed. */
  readonly also?: number;
  readonly except?: Partial<Readonly<Record<Trouble, number>>>;
  /** Of the client's request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Statistics that count each failure; `NAME` is the listener's. */
  readonly counted?: string;
}

/** In a listener: its name, and the file of `SCRIPT`. */
export const NAME = 'NAME';
export const SCRIPT_FILE = 'SCRIPT-FILE';

export const grpc = (cluster: string): object => ({
  grpc_service: { envoy_grpc: { cluster_name: cluster }, timeout: TIMEOUT },
});
export const uri = (cluster: string, path = '/'): object => ({
  uri: `http://service.test${path}`,
  cluster,
  timeout: TIMEOUT,
});
