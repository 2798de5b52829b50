/** The services that a filter, and its routes, name as processors; each is made once. */
import type { ProcessorService } from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import type { GrpcService } from '../../../services/grpc-services.ts';
import type { FilterContext } from '../../filter-context.ts';
import { GrpcProcessorCall } from './grpc-processor.ts';
import { HttpProcessor } from './http-processor.ts';
import type { ProcessorCall, ProcessorCallbacks } from './processor.ts';

type CallMetadata = readonly (readonly [name: string, value: string])[];

export class ProcessorServices {
  readonly #context: FilterContext;
  readonly #grpc = new Map<ProcessorService, GrpcService>();
  readonly #http = new WeakMap<ProcessorService, HttpProcessor>();

  constructor(context: FilterContext) {
    this.#context = context;
  }

  /** The owner may be called before this returns. */
  open(
    service: ProcessorService,
    info: StreamInfo,
    metadata: CallMetadata,
    owner: ProcessorCallbacks,
  ): ProcessorCall {
    if (service.kind === 'http') return this.#httpOf(service).open(info, owner);
    let grpc = this.#grpc.get(service);
    if (grpc === undefined) {
      grpc = this.#context.grpc.service(service.target);
      this.#grpc.set(service, grpc);
    }
    return new GrpcProcessorCall(grpc, info, metadata, owner);
  }

  release(): void {
    for (const service of this.#grpc.values()) service.release();
    this.#grpc.clear();
  }

  #httpOf(service: Extract<ProcessorService, { readonly kind: 'http' }>): HttpProcessor {
    let http = this.#http.get(service);
    if (http === undefined) {
      http = new HttpProcessor(service, this.#context.services);
      this.#http.set(service, http);
    }
    return http;
  }
}
