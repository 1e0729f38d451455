-- Whether any address of the account was ever verified. Such an account has an owner, even if its address changed since.
ALTER TABLE users ADD COLUMN once_verified INTEGER NOT NULL DEFAULT 0;
UPDATE users SET once_verified = email_verified;

CREATE TRIGGER users_made_verified AFTER INSERT ON users WHEN NEW.email_verified
BEGIN
  UPDATE users SET once_verified = 1 WHERE id = NEW.id;
END;
CREATE TRIGGER users_verified AFTER UPDATE OF email_verified ON users WHEN NEW.email_verified AND NOT NEW.once_verified
BEGIN
  UPDATE users SET once_verified = 1 WHERE id = NEW.id;
END;
