from .charts import plot as plot
from .page import write_report as write_report
