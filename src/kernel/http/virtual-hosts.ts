// The hook with which plugins serve further host names on the web surface.

/** A request to a host name other than Berth's own, as the surface continues with it. */
export interface VirtualHostRequest {
  /** The request at its path on Berth's own host. */
  request: Request;
  /** The origin of pages of the virtual host. */
  origin: string;
}

/** Returns undefined for a host that is not the plugin's. Called for every request of the web surface. */
export type VirtualHost = (request: Request) => VirtualHostRequest | undefined;
