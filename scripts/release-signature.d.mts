export function signFile(path: string, pem: string): string;
export function publicKeyOf(pem: string): string;
