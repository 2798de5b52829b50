/** A filter that lets everything pass; filters that care for a part of a message extend it. */
import type { DataStatus, HeadersStatus, HttpFilter, TrailersStatus } from '../stream/filter.ts';
import type { HeaderMap } from '../stream/header-map.ts';

export class PassThroughFilter implements HttpFilter {
  decodeHeaders(_headers: HeaderMap, _endStream: boolean): HeadersStatus {
    return 'continue';
  }

  decodeData(_data: Buffer, _endStream: boolean): DataStatus {
    return 'continue';
  }

  decodeTrailers(_trailers: HeaderMap): TrailersStatus {
    return 'continue';
  }

  encodeHeaders(_headers: HeaderMap, _endStream: boolean): HeadersStatus {
    return 'continue';
  }

  encodeData(_data: Buffer, _endStream: boolean): DataStatus {
    return 'continue';
  }

  encodeTrailers(_trailers: HeaderMap): TrailersStatus {
    return 'continue';
  }

  onDestroy(): void {
    // Nothing is held.
  }
}
