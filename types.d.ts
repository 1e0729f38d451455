// What the bundler embeds as text or as a file, told to the type checker.
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.htm" {
  const text: string;
  export default text;
}
declare module "*/standalone.js" {
  const path: string;
  export default path;
}
