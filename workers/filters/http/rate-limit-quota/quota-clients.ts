/** The quota clients of this worker: all filters that name the same service and domain have one. */
import type { QuotaCommand, QuotaNotice } from '../../../../shared/messages/quota-steps.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import { QuotaClient, type QuotaClientParts } from './quota-client.ts';

type Notify = (notice: QuotaNotice) => void;

export class QuotaClients {
  readonly #loop: WorkerLoop;
  readonly #notify: Notify;
  readonly #clients = new Map<string, { readonly client: QuotaClient; users: number }>();

  constructor(loop: WorkerLoop, notify: Notify) {
    this.#loop = loop;
    this.#notify = notify;
  }

  /** `make` is called for the first user of a group; `leave` once for each. */
  join(group: string, make: () => QuotaClientParts): { client: QuotaClient; leave: () => void } {
    const known = this.#clients.get(group);
    const entry = known ?? { client: this.#make(group, make()), users: 0 };
    this.#clients.set(group, entry);
    entry.users += 1;
    const leave = (): void => {
      entry.users -= 1;
      if (entry.users > 0) return;
      this.#clients.delete(group);
      entry.client.close();
    };
    return { client: entry.client, leave };
  }

  take({ group, step }: QuotaCommand): void {
    const client = this.#clients.get(group)?.client;
    if (client !== undefined) this.#loop.run(client, () => client.obey(step));
  }

  #make(group: string, parts: QuotaClientParts): QuotaClient {
    return new QuotaClient(parts, this.#loop, (step) => {
      this.#notify({ kind: 'quota_notice', group, step });
    });
  }
}
