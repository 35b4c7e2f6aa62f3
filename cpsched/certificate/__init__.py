"""Certificates: a decision with its bounds and the evidence for each, checked again without any solver."""

from cpsched.certificate.certify import certify
from cpsched.certificate.document import CLAIMED, Certificate, CertifiedLevel, Evidence
from cpsched.certificate.evidence import EVIDENCE
from cpsched.certificate.verify import Checked, verified

__all__ = ["CLAIMED", "EVIDENCE", "Certificate", "CertifiedLevel", "Checked", "Evidence", "certify", "verified"]
