/** Finds out whether a client speaks HTTP in the clear, and which version. */
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { HTTP_INSPECTOR } from '../../../shared/resources/filters/listener/http-inspector.ts';
import type {
  EarlyInfo,
  FilterVerdict,
  ListenerFilterRunner,
} from '../../listener/listener-filter.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\dA-Za-z-]+ \S+ HTTP\/1\.([01])\r?\n/;
/** What may still become a request line. */
const BEGINNING = /^[!#$%&'*+.^_`|~\dA-Za-z-]*(?: \S*(?: [HTP/1.0\r]*)?)?$/;
const MAX_REQUEST_LINE = 8 * 1024;

export class HttpInspector implements ListenerFilterRunner {
  readonly #stats: StatWriter;
  readonly #base: number;

  constructor(stats: StatWriter) {
    this.#stats = stats;
    this.#base = stats.defineBlock(HTTP_INSPECTOR, 'http_inspector.');
  }

  inspect(data: Buffer, facts: EarlyInfo): FilterVerdict {
    if (facts.transportProtocol === 'tls') return 'done';
    const text = data.toString('latin1', 0, MAX_REQUEST_LINE);
    if (text.length < PREFACE.length ? PREFACE.startsWith(text) : text.startsWith(PREFACE)) {
      return text.length < PREFACE.length ? 'more' : this.#found('http2_found', 'h2c', facts);
    }
    const match = REQUEST_LINE.exec(text);
    if (match?.[1] === '1') return this.#found('http11_found', 'http/1.1', facts);
    if (match?.[1] === '0') return this.#found('http10_found', 'http/1.0', facts);
    if (text.length < MAX_REQUEST_LINE && BEGINNING.test(text)) return 'more';
    return this.#found('http_not_found', '', facts);
  }

  release(): void {
    this.#stats.releaseBlock(this.#base);
  }

  #found(
    stat: keyof typeof HTTP_INSPECTOR.index,
    protocol: string,
    facts: EarlyInfo,
  ): FilterVerdict {
    this.#stats.increment(this.#base + HTTP_INSPECTOR.index[stat]);
    if (protocol !== '') facts.applicationProtocols = [protocol];
    return 'done';
  }
}
