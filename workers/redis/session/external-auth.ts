/** Asks a service whether a client's name and password are right. */
import type { GrpcRequest, GrpcService } from '../../services/grpc-services.ts';
import {
  type ProtoField,
  readMessage,
  visitFields,
} from '../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';

const METHOD = '/envoy.service.redis_auth.v3.RedisProxyExternalAuth/Authenticate';
/** The code of google.rpc.Code. */
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

export interface ExternalVerdict {
  readonly kind: 'allowed' | 'denied' | 'failed';
  readonly message: string;
  /** Unix seconds, until which the client is in; 0 where the service does not say it. */
  readonly expiresAtS: number;
}

const FAILED: ExternalVerdict = { kind: 'failed', message: '', expiresAtS: 0 };

export interface ExternalQuestion {
  readonly username: string;
  readonly password: string;
  readonly info: StreamInfo;
  readonly onVerdict: (verdict: ExternalVerdict) => void;
  readonly onException: () => void;
}

export class ExternalAuth {
  readonly #service: GrpcService;
  readonly #timeoutMs: number;

  constructor(service: GrpcService, timeoutMs: number) {
    this.#service = service;
    this.#timeoutMs = timeoutMs;
  }

  /** May be told before it returns. */
  ask({ username, password, info, onVerdict, onException }: ExternalQuestion): GrpcRequest {
    const writer = new ProtoWriter();
    writer.text(1, username);
    writer.text(2, password);
    const call = { method: METHOD, timeoutMs: this.#timeoutMs, parent: info };
    return this.#service.call(call, writer.finish(), {
      onAnswer: (message) => onVerdict(readMessage(message, readVerdict) ?? FAILED),
      onFailure: () => onVerdict(FAILED),
      onException,
    });
  }

  release(): void {
    this.#service.release();
  }
}

function readVerdict(bytes: Buffer): ExternalVerdict {
  let code = 0;
  let message = '';
  let expiresAtS = 0;
  visitFields(bytes, (field) => {
    if (field.number === 1) field.message((part) => (code = numberIn(part, code)));
    else if (field.number === 2) {
      field.message((part) => (expiresAtS = numberIn(part, expiresAtS)));
    } else if (field.number === 3) message = field.text() ?? message;
  });
  return { kind: kindOf(code), message, expiresAtS };
}

/** The first field of a message. */
function numberIn(part: ProtoField, present: number): number {
  return part.number === 1 ? (part.integer() ?? present) : present;
}

function kindOf(code: number): ExternalVerdict['kind'] {
  if (code === 0) return 'allowed';
  return code === PERMISSION_DENIED || code === UNAUTHENTICATED ? 'denied' : 'failed';
}
