long long cross(long long a, long long b);
