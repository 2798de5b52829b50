/** What a processor is sent and what it answers, whatever it speaks. */
import type { ProcessingMode } from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { Struct } from '../../../../shared/text/dictionary.ts';

/** One character per byte. */
export type HeaderPair = readonly [name: string, value: string];

/** The parts of an exchange that are processed, by the names of the API. */
export type Part =
  | 'request_headers'
  | 'response_headers'
  | 'request_body'
  | 'response_body'
  | 'request_trailers'
  | 'response_trailers';

export interface ProcessingRequest {
  readonly part: Part;
  /** The fields of headers and trailers. */
  readonly headers: readonly HeaderPair[];
  /** The bytes of bodies. */
  readonly body: Buffer | undefined;
  readonly endOfStream: boolean;
  readonly metadata: readonly (readonly [namespace: string, value: Struct])[];
  /** Each value has the bytes of a google.protobuf.Any. */
  readonly typedMetadata: readonly (readonly [namespace: string, value: Uint8Array])[];
  readonly attributes: Struct | undefined;
  /** With the first message only. */
  readonly protocol:
    | {
        readonly requestBody: number;
        readonly responseBody: number;
        readonly sendsBodyEarly: boolean;
      }
    | undefined;
  readonly isObserver: boolean;
}

export interface HeaderChange {
  readonly name: string;
  readonly value: string;
  readonly appends: boolean;
}

export interface HeaderMutation {
  readonly set: readonly HeaderChange[];
  readonly remove: readonly string[];
}

export type BodyMutation =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'clear' }
  | { readonly kind: 'streamed'; readonly bytes: Buffer; readonly endOfStream: boolean };

/** The answer to headers or to a body. */
export interface CommonAnswer {
  /** The body is replaced by the mutation, and not processed. */
  readonly replaces: boolean;
  readonly headers: HeaderMutation | undefined;
  readonly body: BodyMutation | undefined;
  readonly clearsRoute: boolean;
}

export interface ImmediateAnswer {
  readonly status: number;
  readonly headers: HeaderMutation | undefined;
  readonly body: Buffer;
  /** Undefined: what the status means. */
  readonly grpcStatus: number | undefined;
  readonly details: string;
}

export interface ProcessorAnswer {
  readonly answer:
    | { readonly part: Part; readonly common: CommonAnswer }
    | { readonly part: 'immediate'; readonly immediate: ImmediateAnswer }
    /** None of those that are known. */
    | { readonly part: 'other' };
  readonly metadata: Struct | undefined;
  readonly mode: ProcessingMode | undefined;
  /** How long the processor wants to be waited for; undefined: it says nothing of it. */
  readonly timeoutMs: number | undefined;
}

export const NO_COMMON_ANSWER: CommonAnswer = {
  replaces: false,
  headers: undefined,
  body: undefined,
  clearsRoute: false,
};
