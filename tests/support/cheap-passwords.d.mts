export function realPasswords(): Disposable;
