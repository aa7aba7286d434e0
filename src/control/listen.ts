/** Where the control API listens beside its socket. */
export interface ListenAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly loopback: boolean;
}

/**
 * `127.0.0.1:9810`, `localhost:9810`, `[::1]:9810`; any other address only when `hasToken`: everybody on the network can
 * come there.
 * @throws Error with one line
 */
export function parseListen(text: string, hasToken: boolean): ListenAddress {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535)
    throw new Error(
      `--control-listen: expected an address such as 127.0.0.1:9810, found ${JSON.stringify(text)}`,
    );
  const loopback = host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
  if (!loopback && !hasToken)
    throw new Error(
      `--control-listen ${text}: only loopback (127.0.0.1, [::1]) goes without a token of your own; set FAKE_CSI_CONTROL_TOKEN or --control-token-file`,
    );
  return { host, port, loopback };
}
