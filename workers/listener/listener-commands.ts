/** What listeners are told by the supervisor: where to accept, and how to drain. */
import type { SupervisorToWorker } from '../../shared/messages/supervisor-to-worker.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';

export interface ListeningDescriptor {
  readonly fd: number;
  readonly address: BoundAddress;
  readonly backlog: number;
}

export type DrainCommand = Omit<Extract<SupervisorToWorker, { readonly kind: 'drain' }>, 'kind'>;
