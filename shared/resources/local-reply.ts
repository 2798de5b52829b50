/** How a connection manager words the answers that it makes itself. */
import type { AccessLogFilter, AccessLogFormat } from './access-log.ts';
import type { HeaderValueOption } from './routes/headers.ts';

export interface LocalReplyFormat {
  readonly format: AccessLogFormat;
  /** Absent: `application/json` for JSON, else what the answer has anyway. */
  readonly contentType?: string;
}

/** The first mapper whose filter accepts an answer changes it. */
export interface LocalReplyMapper {
  readonly filter: AccessLogFilter;
  readonly status?: number;
  /** A byte string. */
  readonly body?: string;
  readonly bodyFormat?: LocalReplyFormat;
  readonly headers: readonly HeaderValueOption[];
}

export interface LocalReplyOptions {
  readonly mappers: readonly LocalReplyMapper[];
  /** The format of answers whose mapper has none of its own. */
  readonly bodyFormat?: LocalReplyFormat;
}
