/** Resolves envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder, also per route. */
import type {
  GrpcJsonTranscoder,
  GrpcJsonTranscoder_PrintOptions as PrintMessage,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/grpc_json_transcoder/v3/transcoder.ts';
import type {
  HttpBinding,
  JsonPrintOptions,
  ProtoField,
  TranscodedMethod,
  TranscoderFilterSettings,
  TranscoderOptions,
} from '../../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { readDataSource } from '../../../data-source.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';
import {
  type DescriptorSet,
  type HttpRule,
  type MethodDescriptor,
  readDescriptorSet,
} from './descriptor-set.ts';
import { parseTemplate } from './path-template.ts';

const TYPE = 'envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder';
const HTTP_BODY = 'google.api.HttpBody';
const UNESCAPES = {
  ALL_CHARACTERS_EXCEPT_RESERVED: 'except_reserved',
  ALL_CHARACTERS_EXCEPT_SLASH: 'except_slash',
  ALL_CHARACTERS: 'all',
} as const;

export const TRANSCODER_FILTER = httpFilter(
  'envoy.filters.http.grpc_json_transcoder',
  TYPE,
  (message: GrpcJsonTranscoder, scope, name): TranscoderFilterSettings => ({
    kind: 'grpc_json_transcoder',
    name,
    options: resolveOptions(message, scope),
  }),
  perRoute(TYPE, resolveOptions),
);

function resolveOptions(message: GrpcJsonTranscoder, scope: Scope): TranscoderOptions {
  const services = resolveServices(message, scope);
  const validation = message.request_validation_options ?? {};
  const spec = message.url_unescape_spec;
  return {
    ...services,
    print: resolvePrint(message.print_options ?? {}),
    keepsRoute: message.match_incoming_request_route === true,
    ignoredQueryParameters: message.ignored_query_parameters ?? [],
    ignoresUnknownQueryParameters: message.ignore_unknown_query_parameters === true,
    capturesUnknownQueryParameters: message.capture_unknown_query_parameters === true,
    convertsStatus: message.convert_grpc_status === true,
    unescapes: typeof spec === 'string' ? UNESCAPES[spec] : 'except_reserved',
    unescapesPlus: message.query_param_unescape_plus === true,
    matchesUnregisteredVerb: message.match_unregistered_custom_verb === true,
    rejects: {
      unknownMethod: validation.reject_unknown_method === true,
      unknownQueryParameters: validation.reject_unknown_query_parameters === true,
      collisions: validation.reject_binding_body_field_collisions === true,
    },
    isEnumCaseIgnored: message.case_insensitive_enum_parsing === true,
    ...optional('maxRequestBytes', message.max_request_body_size),
    ...optional('maxResponseBytes', message.max_response_body_size),
  };
}

function resolvePrint(message: PrintMessage): JsonPrintOptions {
  const lines = message.stream_newline_delimited === true ? 'lines' : 'array';
  return {
    addsWhitespace: message.add_whitespace === true,
    printsDefaults: message.always_print_primitive_fields === true,
    enumsAsNumbers: message.always_print_enums_as_ints === true,
    keepsFieldNames: message.preserve_proto_field_names === true,
    streams: message.stream_sse_style_delimited === true ? 'events' : lines,
  };
}

type Services = Pick<TranscoderOptions, 'messages' | 'enums' | 'methods' | 'bindings'>;

const NO_SERVICES: Services = { messages: [], enums: [], methods: [], bindings: [] };

/** Without services the filter does nothing, and nothing is read. */
function resolveServices(message: GrpcJsonTranscoder, scope: Scope): Services {
  const names = message.services ?? [];
  if (names.length === 0) return NO_SERVICES;
  const bytes = readDescriptor(message, scope);
  if (bytes === undefined) return NO_SERVICES;
  const set = readDescriptorSet(bytes);
  if (set === undefined) {
    scope.error('conflict', 'transcoding_filter: Unable to parse proto descriptor');
    return NO_SERVICES;
  }
  const registered = new Registered(set, message.auto_mapping === true, scope);
  for (const name of names) registered.addService(name);
  return {
    messages: [...set.messages.values()],
    enums: [...set.enums.values()],
    methods: registered.methods,
    bindings: registered.bindings,
  };
}

function readDescriptor(message: GrpcJsonTranscoder, scope: Scope): Buffer | undefined {
  if (message.proto_descriptor_bin !== undefined) {
    return Buffer.from(message.proto_descriptor_bin, 'base64');
  }
  return readDataSource({ filename: message.proto_descriptor ?? '' }, scope.at('proto_descriptor'));
}

/** The methods of the services that are transcoded, and the paths that lead to them. */
class Registered {
  readonly methods: TranscodedMethod[] = [];
  readonly bindings: HttpBinding[] = [];
  readonly #set: DescriptorSet;
  readonly #mapsAll: boolean;
  readonly #scope: Scope;

  constructor(set: DescriptorSet, mapsAll: boolean, scope: Scope) {
    this.#set = set;
    this.#mapsAll = mapsAll;
    this.#scope = scope;
  }

  addService(name: string): void {
    const methods = this.#set.services.get(name);
    if (methods === undefined) {
      this.#refuse(`Could not find '${name}' in the proto descriptor`);
      return;
    }
    for (const method of methods) this.#addMethod(name, method);
  }

  #addMethod(service: string, descriptor: MethodDescriptor): void {
    const { http, name, input, output, isClientStreaming, isServerStreaming } = descriptor;
    const path = `/${service}/${name}`;
    const method = this.methods.length;
    this.methods.push({ path, input, output, isClientStreaming, isServerStreaming });
    if (!this.#set.messages.has(input) || !this.#set.messages.has(output)) {
      this.#refuse('Unable to build proto descriptor pool');
      return;
    }
    if (http !== undefined) {
      for (const rule of [http, ...http.more]) this.#addBinding(method, `${service}.${name}`, rule);
    } else if (this.#mapsAll) {
      const [, ...segments] = path.split('/');
      this.bindings.push({
        method,
        verb: 'POST',
        segments,
        customVerb: '',
        variables: [],
        body: '*',
        responseBody: '',
      });
    }
  }

  #addBinding(method: number, fullName: string, rule: HttpRule): void {
    const { input = '', output = '' } = this.methods[method] ?? {};
    const template = parseTemplate(rule.template);
    if (template === undefined || rule.verb === '') {
      this.#refuse(`Cannot register '${fullName}' to path matcher`);
      return;
    }
    const { body, responseBody, verb } = rule;
    const places = [
      ...template.variables.map(({ field }) => [input, field] as const),
      ...(body === '' || body === '*' ? [] : [[input, body.split('.')] as const]),
      ...(responseBody === '' ? [] : [[output, responseBody.split('.')] as const]),
    ];
    if (responseBody !== '' && !this.#isHttpBody(output, responseBody.split('.'))) {
      this.#refuse(
        `Setting "response_body" is not supported yet for non-HttpBody fields: ${fullName}`,
      );
      return;
    }
    const unknown = places.find(([type, field]) => !this.#hasField(type, field));
    if (unknown !== undefined) {
      const [type, field] = unknown;
      this.#refuse(`Could not find field "${field.join('.')}" in the type "${type}".`);
      return;
    }
    this.bindings.push({ ...template, method, verb, body, responseBody });
  }

  /** A body of any type is put in as it is. */
  #hasField(type: string, path: readonly string[]): boolean {
    let name: string | undefined = type;
    for (const part of path) {
      if (name === undefined) return false;
      const message = this.#set.messages.get(name);
      const field = message?.fields.find((each) => each.name === part || each.jsonName === part);
      if (field === undefined) return false;
      name = field.kind === 'message' ? field.type : undefined;
      if (name === HTTP_BODY) return true;
    }
    return true;
  }

  #isHttpBody(type: string, path: readonly string[]): boolean {
    let name: string | undefined = type;
    for (const part of path) {
      const fields: readonly ProtoField[] = this.#set.messages.get(name ?? '')?.fields ?? [];
      name = fields.find((each) => each.name === part || each.jsonName === part)?.type;
    }
    return name === HTTP_BODY;
  }

  #refuse(words: string): void {
    this.#scope.error('conflict', `transcoding_filter: ${words}`);
  }
}
