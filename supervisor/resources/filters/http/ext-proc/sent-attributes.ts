/** Which attributes a processor is sent: expressions, under their own text or a name of choice. */
import type { TypedExtensionConfig } from '../../../../../shared/api/generated/envoy/config/core/v3/extension.ts';
import type { MappedAttributeBuilder } from '../../../../../shared/api/generated/envoy/extensions/http/ext_proc/processing_request_modifiers/mapped_attribute_builder/v3/mapped_attribute_builder.ts';
import type {
  ExtProcOptions,
  SentAttribute,
} from '../../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { Dictionary } from '../../../../../shared/text/dictionary.ts';
import { resolveCelText } from '../../../cel.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';

type SentParts = Pick<ExtProcOptions, 'requestAttributes' | 'responseAttributes'>;

const FIELDS = knownFields<MappedAttributeBuilder>([
  'mapped_request_attributes',
  'mapped_response_attributes',
]);

const MODIFIERS = new ExtensionRegistry<SentParts>(
  'envoy.http.ext_proc.processing_request_modifiers',
  'processing request modifier',
  [
    extension(
      'envoy.extensions.http.ext_proc.mapped_attribute_builder',
      'envoy.extensions.http.ext_proc.processing_request_modifiers.mapped_attribute_builder.v3.MappedAttributeBuilder',
      (message: MappedAttributeBuilder, scope): SentParts => {
        refuseOtherFields(message, FIELDS, scope);
        const { mapped_request_attributes: request, mapped_response_attributes: response } =
          message;
        return {
          requestAttributes: mapped(request, scope.at('mapped_request_attributes')),
          responseAttributes: mapped(response, scope.at('mapped_response_attributes')),
        };
      },
    ),
  ],
);

interface TellingMessage {
  readonly request_attributes?: readonly string[];
  readonly response_attributes?: readonly string[];
  readonly processing_request_modifier?: TypedExtensionConfig;
}

/** A modifier names all attributes itself. */
export function resolveSentAttributes(message: TellingMessage, scope: Scope): SentParts {
  const { processing_request_modifier: modifier } = message;
  const own: SentParts = {
    requestAttributes: listed(message.request_attributes, scope.at('request_attributes')),
    responseAttributes: listed(message.response_attributes, scope.at('response_attributes')),
  };
  if (modifier === undefined) return own;
  const place = scope.at('processing_request_modifier');
  const found = MODIFIERS.find(modifier, place);
  return found?.factory.resolve(found.config, place.at('typed_config'), '') ?? own;
}

function listed(texts: readonly string[] = [], scope: Scope): readonly SentAttribute[] {
  return texts.flatMap((text, index) => attributeOf(text, text, scope.at(index)));
}

function mapped(texts: Dictionary<string> = {}, scope: Scope): readonly SentAttribute[] {
  return Object.entries(texts).flatMap(([name, text]) => attributeOf(name, text, scope.at(name)));
}

function attributeOf(name: string, text: string, scope: Scope): readonly SentAttribute[] {
  const expression = resolveCelText(text, scope);
  return expression === undefined ? [] : [{ name, expression }];
}
