"""What an audit says: findings, checks, policies, the report. Data that knows no renderer."""
