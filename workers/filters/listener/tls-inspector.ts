/** Finds out whether a client speaks TLS, and which server and protocols it asks for. */
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import {
  TLS_INSPECTOR,
  type TlsInspectorSettings,
} from '../../../shared/resources/filters/listener/tls-inspector.ts';
import { helloBody, readClientHello } from '../../tls/client-hello.ts';
import { ja3Of, ja4Of, readOffer } from '../../tls/fingerprints.ts';
import type {
  EarlyInfo,
  FilterVerdict,
  ListenerFilterRunner,
} from '../../listener/listener-filter.ts';

const RECORD_HEAD_BYTES = 5;

export class TlsInspector implements ListenerFilterRunner {
  readonly #settings: TlsInspectorSettings;
  readonly #stats: StatWriter;
  readonly #base: number;

  constructor(settings: TlsInspectorSettings, stats: StatWriter) {
    this.#settings = settings;
    this.#stats = stats;
    this.#base = stats.defineBlock(TLS_INSPECTOR, 'tls_inspector.');
  }

  inspect(data: Buffer, facts: EarlyInfo): FilterVerdict {
    const result = readClientHello(data);
    switch (result.kind) {
      case 'more':
        return 'more';
      case 'too_large':
        this.#count('client_hello_too_large');
        return 'refuse';
      case 'other':
        this.#count('tls_not_found');
        // What follows the head of a record is not looked at.
        this.#record(Math.min(data.length, RECORD_HEAD_BYTES));
        return 'done';
      case 'hello': {
        const { serverName, protocols } = result.hello;
        facts.transportProtocol = 'tls';
        facts.serverName = serverName;
        if (protocols.length > 0) facts.applicationProtocols = protocols;
        this.#makeFingerprints(data, facts);
        this.#count('tls_found');
        this.#count(serverName === '' ? 'sni_not_found' : 'sni_found');
        this.#count(protocols.length === 0 ? 'alpn_not_found' : 'alpn_found');
        this.#record(data.length);
        return 'done';
      }
    }
  }

  release(): void {
    this.#stats.releaseBlock(this.#base);
  }

  #makeFingerprints(data: Buffer, facts: EarlyInfo): void {
    const { makesJa3, makesJa4 } = this.#settings;
    if (makesJa3 !== true && makesJa4 !== true) return;
    const body = helloBody(data);
    if (body === undefined) return;
    const offer = readOffer(body);
    facts.fingerprints = {
      ...(makesJa3 === true ? { ja3: ja3Of(offer) } : {}),
      ...(makesJa4 === true ? { ja4: ja4Of(offer) } : {}),
    };
  }

  #count(name: keyof typeof TLS_INSPECTOR.index): void {
    this.#stats.increment(this.#base + TLS_INSPECTOR.index[name]);
  }

  #record(bytes: number): void {
    this.#stats.record(this.#base + TLS_INSPECTOR.index.bytes_processed, bytes);
  }
}
