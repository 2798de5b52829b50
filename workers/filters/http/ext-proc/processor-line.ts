/** The line from an exchange to its processor: the call, once it is needed, and what is sent by it. */
import { typedMetadataOf } from '../../common/check-attributes.ts';
import type {
  EXT_PROC,
  ExtProcOptions,
  ProcessingMode,
} from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { GrpcTarget } from '../../../../shared/resources/grpc-target.ts';
import type { Struct } from '../../../../shared/text/dictionary.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import type { FilterContext } from '../../filter-context.ts';
import type { Side } from './direction-owner.ts';
import type { HeaderMutations } from './header-mutations.ts';
import type { LingeringCalls } from './lingering-calls.ts';
import type { ProcessingRequest } from './messages.ts';
import type { ProcessorCall, ProcessorCallbacks } from './processor.ts';
import type { ProcessorServices } from './processor-services.ts';
import type { RequestSettings } from './settings.ts';
import { type AttributeReaders, type HeaderReader, sentMetadata } from './sent-parts.ts';

export interface ExchangeParts {
  readonly options: ExtProcOptions;
  readonly context: FilterContext;
  readonly count: (stat: keyof typeof EXT_PROC.index) => void;
  readonly services: ProcessorServices;
  readonly lingering: LingeringCalls;
  readonly mutations: HeaderMutations;
  readonly sent: HeaderReader;
  readonly attributes: AttributeReaders;
}

export type SentPart = Pick<ProcessingRequest, 'part' | 'headers' | 'endOfStream'> & {
  readonly body?: Buffer;
};

export class ProcessorLine {
  readonly #parts: ExchangeParts;
  readonly #settings: RequestSettings;
  readonly #info: StreamInfo;
  #call: ProcessorCall | undefined = undefined;
  /** A stream that counts as closed when it is. */
  #isCounted = false;
  #isCut = false;
  #tellsProtocol = true;
  readonly #hasSentAttributes = { request: false, response: false };

  constructor(parts: ExchangeParts, settings: RequestSettings, info: StreamInfo) {
    this.#parts = parts;
    this.#settings = settings;
    this.#info = info;
  }

  get isCongested(): boolean {
    return this.#call?.isCongested ?? false;
  }

  /** False where there is no processor; the owner has been told why. */
  open(owner: ProcessorCallbacks): boolean {
    if (this.#call !== undefined || this.#isCut) return this.#call !== undefined;
    const { service, callMetadata } = this.#settings;
    const { count, services } = this.#parts;
    if (service.kind === 'grpc' && this.#isThere(service.target)) {
      this.#isCounted = true;
      count('streams_started');
    }
    const call = services.open(service, this.#info, callMetadata, owner);
    if (this.#wasCut()) call.close(false);
    else this.#call = call;
    return !this.#wasCut();
  }

  send(side: Side, sent: SentPart, mode: ProcessingMode): void {
    const { options, context, count } = this.#parts;
    const protocol = {
      requestBody: mode.requestBody,
      responseBody: mode.responseBody,
      sendsBodyEarly: options.sendsBodyEarly,
    };
    count('stream_msgs_sent');
    const request = {
      body: undefined,
      ...sent,
      metadata: sentMetadata(this.#info, this.#settings, context),
      typedMetadata: typedMetadataOf(this.#info, this.#settings.metadata.sentTyped),
      attributes: this.#attributesFor(side),
      protocol: this.#tellsProtocol && !options.isObserver ? protocol : undefined,
      isObserver: options.isObserver,
    };
    this.#tellsProtocol = false;
    this.#call?.send(request);
  }

  /** The call is over by itself, and not one that is closed here. */
  onBroken(): void {
    this.#isCounted = false;
  }

  /** The processor may go on reading for a while. */
  linger(): void {
    const call = this.#call;
    if (call === undefined) return;
    this.#call = undefined;
    this.#isCounted = false;
    this.#parts.lingering.keep(call);
  }

  close(): void {
    this.#isCut = true;
    if (this.#isCounted) this.#parts.count('streams_closed');
    this.#isCounted = false;
    const call = this.#call;
    this.#call = undefined;
    call?.close(true);
  }

  /** Apart from where it is set, since a call may end while it is being opened. */
  #wasCut(): boolean {
    return this.#isCut;
  }

  #isThere(target: GrpcTarget): boolean {
    return target.kind === 'uri' || this.#parts.context.callCluster(target.cluster) !== undefined;
  }

  #attributesFor(side: Side): Struct | undefined {
    if (this.#hasSentAttributes[side]) return undefined;
    this.#hasSentAttributes[side] = true;
    const { requestAttributes, responseAttributes } = this.#settings;
    const list = side === 'request' ? requestAttributes : responseAttributes;
    return this.#parts.attributes.of(list)?.(this.#info);
  }
}
