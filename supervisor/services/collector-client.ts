/**
 * Sends what was collected to a collector by HTTP: one request after the other per cluster, whose
 * answer says only whether it was taken.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Clock } from '../../shared/process/clock.ts';
import type { CollectorService } from '../../shared/resources/telemetry/collector.ts';
import { parseFormat } from '../../shared/substitution/parse-format.ts';
import { dictionary } from '../../shared/text/dictionary.ts';
import type { ControlPlaneClusters } from './control-plane-clusters.ts';
import { RestClient } from './rest-client.ts';

/** Where the configuration sets no limit. */
const TIMEOUT_MS = 5000;

export class CollectorClient {
  readonly #clusters: ControlPlaneClusters;
  readonly #clock: Clock;
  readonly #client = new RestClient();

  constructor(clusters: ControlPlaneClusters, clock: Clock) {
    this.#clusters = clusters;
    this.#clock = clock;
  }

  /** Rejects when the collector did not take it. */
  async post(
    { target, headers }: CollectorService,
    body: Buffer,
    own: OutgoingHttpHeaders,
  ): Promise<void> {
    const { cluster, authority, path } = target;
    const timeoutMs = target.timeoutMs > 0 ? target.timeoutMs : TIMEOUT_MS;
    const host = this.#clusters.pick(cluster);
    if (host === undefined) throw new Error(`${cluster} has no host`);
    const asking = new AbortController();
    const timer = this.#clock.after(timeoutMs, () => asking.abort());
    const { signal } = asking;
    const request = host.stats.request();
    const given = dictionary(headers.map(({ name, format }) => [name, textOf(format)]));
    const question = { authority, path, body, signal, timeoutMs, request };
    try {
      const answer = await this.#client.post(host, { ...question, headers: { ...own, ...given } });
      request.ended();
      if (answer.status < 200 || answer.status > 299) {
        throw new Error(`${cluster} answered ${answer.status}`);
      }
    } catch (error) {
      request.failed(signal.aborted ? 'timeout' : 'connection');
      throw signal.aborted ? new Error(`${cluster} did not answer in time`) : error;
    } finally {
      timer.cancel();
    }
  }

  close(): void {
    this.#client.close();
  }
}

/** There is no request that commands could read. */
function textOf(format: string): string {
  const parsed = parseFormat(format);
  if (!parsed.ok) return format;
  return parsed.format.parts.map((part) => (typeof part === 'string' ? part : '-')).join('');
}
