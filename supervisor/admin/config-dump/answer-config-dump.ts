/**
 * `/config_dump`: everything that is configured, redacted, whole or narrowed by `resource`, `mask`
 * and `name_regex`. Elements are made, redacted and printed one at a time while the page is sent.
 */
import { escapeControls } from '../../../shared/logging/escape.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { BadParam, flag, text } from '../../http-pages/params.ts';
import type { RequestOf } from '../admin-route.ts';
import { JSON_TYPE } from '../http/responses.ts';
import { quoteJson } from '../../../shared/json/quote-json.ts';
import type { MessageTypes } from '../message-types.ts';
import { typeUrlOf } from '../message-types.ts';
import { nameMatcher, type NameMatcher } from '../name-matcher.ts';
import { madeInSteps, type DumpItem } from './dump-elements.ts';
import { DUMP_PACKAGE, dumpSections } from './dump-sections.ts';
import type { DumpSection } from './dump-sections.ts';
import {
  bootstrapPage,
  inOwnForm,
  notModified,
  onePage,
  OWN_DUMP_PARAMS,
  tagOf,
} from './own-forms.ts';
import { FieldMask } from './field-mask.ts';
import { mapLazily } from './lazy-list.ts';
import { printFields, printMessage } from './print-fields.ts';

export const CONFIG_DUMP_PARAMS = {
  resource: text('The resource to dump'),
  mask: text(
    'The mask to apply. When both resource and mask are specified, the mask is applied to every element in the desired repeated field so that only a subset of fields are returned. The mask is parsed as a Protobuf::FieldMask',
  ),
  name_regex: nameMatcher(
    'Dump only the currently loaded configurations whose names match the specified regex. Can be used with both resource and mask query parameters.',
    (reason, pattern) =>
      new BadParam(
        escapeControls(
          `INVALID_ARGUMENT: Error while parsing name_regex from ${pattern}: ${reason}`,
        ),
        'text/plain',
      ),
  ),
  include_eds: flag(
    'Dump currently loaded configuration including EDS. See the response definition for more information',
  ),
  ...OWN_DUMP_PARAMS,
};

export async function answerConfigDump(
  { params, ifNoneMatch }: RequestOf<typeof CONFIG_DUMP_PARAMS>,
  context: AdminContext,
  types: MessageTypes,
): Promise<AdminResponse> {
  const {
    resource,
    mask: maskText = '',
    name_regex: matcher,
    include_eds: includeEndpoints,
  } = params;
  const tag = includeEndpoints ? undefined : tagOf(params, ifNoneMatch, context);
  const early = notModified(tag, ifNoneMatch) ?? bootstrapPage(params, context, types);
  if (early !== undefined) return early;
  const sections = dumpSections(context, { includeEndpoints });
  const named = onePage(narrowByName(sections, matcher), params);
  return inOwnForm(await context.turns.run(answer()), params, tag);

  function* answer(): Steps<AdminResponse> {
    const mask = yield* FieldMask.read(maskText);
    return resource === undefined
      ? yield* answerAll(types, named, mask)
      : yield* answerResource(types, named, { resource, mask });
  }
}

// The mask is checked against every section before the first byte: it may fit none of them.
function* answerAll(
  types: MessageTypes,
  sections: readonly DumpSection[],
  mask: FieldMask,
): Steps<AdminResponse> {
  const masked = mask.isEmpty ? sections : yield* maskSections(types, sections, mask);
  if (masked.length === 0) {
    return refusal(
      `FieldMask ${yield* mask.list()} could not be successfully applied to any configs.`,
    );
  }
  return jsonBody(printSections(types, masked));
}

function* answerResource(
  types: MessageTypes,
  sections: readonly DumpSection[],
  wanted: { readonly resource: string; readonly mask: FieldMask },
): Steps<AdminResponse> {
  const { resource, mask } = wanted;
  const shown = escapeControls(resource);
  for (const section of sections) {
    const list = section.lists.find(({ field }) => field === resource);
    if (list !== undefined) {
      const elementType = `${DUMP_PACKAGE}.${section.type}.${list.element}`;
      const elements = yield* maskElements(types, list.items, { elementType, mask });
      return elements === undefined
        ? refusal(`FieldMask ${yield* mask.describe()} could not be successfully used.`)
        : jsonBody(printElements(types, elementType, elements));
    }
    const type = types.find(`${DUMP_PACKAGE}.${section.type}`);
    if (type !== undefined && types.field(type, resource) !== undefined) {
      return refusal(`${shown} is not a repeated field. Use ?mask=${shown} to get only this field`);
    }
  }
  return refusal(`${shown} not found in config dump`, 404);
}

function narrowByName(
  sections: readonly DumpSection[],
  matcher: NameMatcher | undefined,
): readonly DumpSection[] {
  if (matcher === undefined) return sections;
  return sections.map((section) => ({
    ...section,
    lists: section.lists.map((list) => ({
      ...list,
      items: namedItems(list.items, matcher),
    })),
  }));
}

function namedItems(
  items: Iterable<DumpItem | undefined>,
  matcher: NameMatcher,
): Iterable<DumpItem | undefined> {
  return mapLazily(items, (item) => {
    if (item === undefined) return undefined;
    const { name, namesIn, makeUnasked } = item;
    if (namesIn !== undefined) return narrowWithin(item, namesIn, matcher);
    if (matcher.matches(name)) return item;
    return makeUnasked === undefined ? undefined : { ...item, make: makeUnasked };
  });
}

/** Keeps the element and drops what is in its list under another name, as Envoy does. */
function narrowWithin(item: DumpItem, field: string, matcher: NameMatcher): DumpItem {
  const make = (): JsonObject => {
    const { [field]: list, ...others } = item.make();
    const kept = (Array.isArray(list) ? (list as readonly JsonObject[]) : []).filter(
      ({ name }) => typeof name === 'string' && matcher.matches(name),
    );
    return kept.length === 0 ? others : { ...item.make(), [field]: kept };
  };
  return { ...item, make };
}

function* maskSections(
  types: MessageTypes,
  sections: readonly DumpSection[],
  mask: FieldMask,
): Steps<readonly DumpSection[]> {
  const masked: DumpSection[] = [];
  for (const section of sections) {
    const { type, fields, lists } = section;
    if (!(yield* mask.fits(types, `${DUMP_PACKAGE}.${type}`, fields))) continue;
    const kept = lists.filter(({ field }) => mask.names(field));
    masked.push({ ...section, fields: mask.trim(fields), lists: kept });
  }
  return masked;
}

/**
 * Undefined when the mask does not fit the elements, which the first one tells for all. Elements
 * are made when they are pulled, and redacted when they are printed.
 */
function* maskElements(
  types: MessageTypes,
  items: Iterable<DumpItem | undefined>,
  wanted: { readonly elementType: string; readonly mask: FieldMask },
): Steps<Iterable<JsonObject | undefined> | undefined> {
  const { elementType, mask } = wanted;
  const typeUrl = typeUrlOf(elementType);
  function* elementOf(item: DumpItem): Steps<JsonObject | undefined, ''> {
    const message = yield* madeInSteps(item);
    return mask.isEmpty ? message : yield* mask.applied(types, elementType, message);
  }
  for (const first of items) {
    yield;
    if (first === undefined) continue;
    if ((yield* elementOf(first)) === undefined) return undefined;
    break;
  }
  return elements();

  function* elements(): Generator<JsonObject | undefined> {
    for (const item of items) {
      const steps = item === undefined ? undefined : elementOf(item);
      for (;;) {
        const step = steps?.next();
        yield step?.done === true ? { '@type': typeUrl, ...step.value } : undefined;
        if (step?.done !== false) break;
      }
    }
  }
}

function* printElements(
  types: MessageTypes,
  typeName: string,
  elements: Iterable<JsonObject | undefined>,
): Generator<string> {
  let opening = '{\n "configs": [\n  ';
  for (const element of elements) {
    if (element === undefined) {
      yield '';
      continue;
    }
    yield opening;
    yield* printMessage(types, { typeName, depth: 2 }, element);
    opening = ',\n  ';
  }
  yield opening.startsWith(',') ? '\n ]\n}\n' : '{}\n';
}

function* printSections(types: MessageTypes, sections: readonly DumpSection[]): Generator<string> {
  let opening = '{\n "configs": [\n  ';
  for (const section of sections) {
    const typeName = `${DUMP_PACKAGE}.${section.type}`;
    yield `${opening}{\n   "@type": ${quoteJson(typeUrlOf(typeName))}`;
    opening = ',\n  ';
    yield* printFields(types, { typeName, depth: 3, separator: ',\n' }, section.fields);
    for (const list of section.lists) {
      const opening = `,\n   ${quoteJson(list.field)}: [\n    `;
      let separator = opening;
      for (const item of list.items) {
        if (item === undefined) {
          yield '';
          continue;
        }
        yield separator;
        const message = yield* madeInSteps(item);
        yield* printMessage(types, { typeName: `${typeName}.${list.element}`, depth: 4 }, message);
        separator = ',\n    ';
      }
      if (separator !== opening) yield '\n   ]';
    }
    yield '\n  }';
  }
  yield '\n ]\n}\n';
}

function jsonBody(body: Iterable<string>): AdminResponse {
  return { status: 200, contentType: JSON_TYPE, body };
}

// Envoy says nosniff twice here, and leaves the character set out.
function refusal(text: string, status = 400): AdminResponse {
  return {
    status,
    contentType: 'text/plain',
    headers: { 'x-content-type-options': ['nosniff', 'nosniff'] },
    body: text,
  };
}
