/**
 * Puts the ports that the system has chosen for the listeners of a bootstrap into it, so that the
 * next epoch takes over the same ones: a hot restart finds a listener by its address.
 */

/** As a bootstrap may be written: the API's names, or those of its JSON form. */
interface Bootstrap {
  readonly static_resources?: { readonly listeners?: readonly Listener[] };
  readonly staticResources?: { readonly listeners?: readonly Listener[] };
}

interface Listener {
  readonly name?: string;
  readonly address?: { socket_address?: SocketAddress; socketAddress?: SocketAddress };
}

interface SocketAddress {
  port_value?: number;
  portValue?: number;
}

/** A copy; `ports` are those of listeners by their names. */
export function keepPorts(bootstrap: object, ports: ReadonlyMap<string, number>): object {
  const copy = JSON.parse(JSON.stringify(bootstrap)) as Bootstrap;
  const resources = copy.static_resources ?? copy.staticResources;
  for (const { name = '', address } of resources?.listeners ?? []) {
    const place = address?.socket_address ?? address?.socketAddress;
    const port = ports.get(name);
    // `named_port` is refused anyway.
    if (place === undefined || port === undefined) continue;
    if ((place.port_value ?? place.portValue ?? 0) !== 0) continue;
    delete place.portValue;
    place.port_value = port;
  }
  return copy;
}
